import { useLayoutEffect, useState, type RefObject } from 'react'

export interface Span {
  first: number
  last: number
}

/** useVisibleRows are the rows of a long list that the window shows, and some around them. */
export function useVisibleRows(count: number, height: number, ref: RefObject<HTMLElement | null>, beyond = 12): Span {
  const [span, setSpan] = useState<Span>({ first: 0, last: Math.min(count, 40) })
  useLayoutEffect(() => {
    let frame = 0
    const measure = () => {
      frame = 0
      if (!ref.current) return
      const top = -ref.current.getBoundingClientRect().top
      const first = Math.max(0, Math.floor(top / height) - beyond)
      const last = Math.min(count, Math.ceil((top + window.innerHeight) / height) + beyond)
      setSpan((now) => (now.first === first && now.last === Math.max(first, last) ? now : { first, last: Math.max(first, last) }))
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
