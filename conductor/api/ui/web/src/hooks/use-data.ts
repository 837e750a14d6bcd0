import { useCallback, useEffect, useState } from 'react'
import { errorText } from '../api/fault'

export interface Loaded<T> {
  data: T | undefined
  error: string
  loading: boolean
  reload: () => void
}

/** useData reads something, and reads it anew when one of keys has changed, or on demand. What was read stays meanwhile. */
export function useData<T>(read: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data: T | undefined; error: string; loading: boolean }>({
    data: undefined, error: '', loading: true,
  })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const end = new AbortController()
    setState((s) => ({ ...s, loading: true }))
    read(end.signal).then(
      (data) => !end.signal.aborted && setState({ data, error: '', loading: false }),
      (err: unknown) => {
        if (!end.signal.aborted) setState((s) => ({ ...s, error: errorText(err), loading: false }))
      },
    )
    return () => end.abort()
    // read is another function at each render; keys say when it differs
  }, [...keys, turn])
  const reload = useCallback(() => setTurn((t) => t + 1), [])
  return { ...state, reload }
}
