// What of Apache ECharts is used; a kind of chart not listed here is not in the bundle.
import { BarChart, CustomChart, GraphChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts'
import {
  AriaComponent, GraphicComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent,
  MarkPointComponent, TooltipComponent, VisualMapComponent,
} from 'echarts/components'
import { graphic, init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'

use([
  BarChart, CustomChart, GraphChart, HeatmapChart, LineChart, ScatterChart,
  AriaComponent, GraphicComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent,
  MarkPointComponent, TooltipComponent, VisualMapComponent, SVGRenderer,
])

export { graphic, init }
