import { useLayoutEffect, useState, type RefObject } from 'react'

export interface Span {
  first: number
  last: number
}

/** useVisibleRows are the rows of a long list that the window shows, and some around them; height is that of each row, or where each begins. */
export function useVisibleRows(count: number, height: number | number[], ref: RefObject<HTMLElement | null>, beyond = 12): Span {
  const [span, setSpan] = useState<Span>({ first: 0, last: Math.min(count, 40) })
  useLayoutEffect(() => {
    let frame = 0
    const rowAt = (y: number) => (typeof height === 'number' ? Math.floor(y / height) : before(height, y))
    const measure = () => {
      frame = 0
      if (!ref.current) return
      const top = -ref.current.getBoundingClientRect().top
      const first = Math.min(count, Math.max(0, rowAt(top) - beyond))
      const last = Math.max(first, Math.min(count, rowAt(top + window.innerHeight) + 1 + beyond))
      setSpan((now) => (now.first === first && now.last === last ? now : { first, last }))
    }
    const later = () => {
      frame ||= requestAnimationFrame(measure)
    }
    measure()
    window.addEventListener('scroll', later, { passive: true })
    window.addEventListener('resize', later)
    return () => {
      cancelAnimationFrame(frame)
      window.removeEventListener('scroll', later)
      window.removeEventListener('resize', later)
    }
  }, [count, height, ref, beyond])
  return span
}

/** before is the last row that begins at y or above. */
function before(tops: number[], y: number): number {
  let [low, high] = [0, tops.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (tops[middle]! <= y) low = middle
    else high = middle - 1
  }
  return low
}
