// The width of an element, kept up to date: for drawings that are not charts.
import { useCallback, useRef, useState } from 'preact/hooks'

/** Returns [ref, width]; width is 0 until the element is laid out. */
export function useWidth() {
  const [width, setWidth] = useState(0)
  const watch = useRef(null)
  const attach = useCallback((element) => {
    watch.current?.disconnect()
    if (!element) return
    watch.current = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)))
    watch.current.observe(element)
  }, [])
  return [attach, width]
}
