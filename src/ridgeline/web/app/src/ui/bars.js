// Bars and legends that look the same on several pages.

export const LEGEND = { top: 0, left: 0, itemWidth: 16, itemHeight: 8, itemGap: 12, type: 'scroll' }

/** White on any colour. */
export const INSIDE = { color: '#fff', textBorderColor: 'rgba(0,0,0,.55)', textBorderWidth: 2, fontSize: 12 }

/** A piece of a stack of bars, parted from its neighbours by the paper. */
export const piece = (name, data, colour, c, rest = {}) => ({
  type: 'bar',
  name,
  data,
  color: colour,
  barMaxWidth: 64,
  itemStyle: { borderColor: c.paper, borderWidth: 1 },
  emphasis: { disabled: true },
  ...rest,
})
