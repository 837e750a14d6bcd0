import { useEffect, useState } from 'react'

/** useNow is the time, each second, for as long as the page is seen. */
export function useNow(every = 1000): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setNow(Date.now()), every)
    return () => clearInterval(timer)
  }, [every])
  return now
}
