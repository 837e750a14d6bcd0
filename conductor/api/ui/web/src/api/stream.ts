// The events of the conductor, for as long as the page is seen.
import type { Event } from './types'
import { send } from './client'
import { Fault } from './fault'
import { Decoder } from '../lib/sse'
import { Store } from '../lib/store'

/** silence is how long a stream may say nothing: it says that it lives every 15 seconds. */
const silence = 40_000

export interface StreamState {
  /** live: events arrive as they happen. */
  live: boolean
  /** lost is since when they do not; 0 while they do. */
  lost: number
}

type Listener = (events: Event[]) => void

/** Stream follows the events, and goes on where it was after it was cut. */
class Stream extends Store<StreamState> {
  private cursor = ''
  private readonly readers = new Set<Listener>()
  private readonly restarts = new Set<() => void>()
  private running: AbortController | null = null
  private tries = 0

  /** follow has a reader told of events; restart is called when some may be missing: what is shown must be read anew. */
  follow(reader: Listener, restart?: () => void): () => void {
    this.readers.add(reader)
    if (restart) this.restarts.add(restart)
    this.start()
    return () => {
      this.readers.delete(reader)
      if (restart) this.restarts.delete(restart)
    }
  }

  /** pause ends the stream: a page that nobody sees takes none of the few connections of the browser. */
  pause(): void {
    this.running?.abort()
    this.running = null
    this.set({ live: false })
  }

  start(): void {
    if (this.running || document.hidden) return
    this.running = new AbortController()
    void this.run(this.running)
  }

  private async run(running: AbortController): Promise<void> {
    while (!running.signal.aborted) {
      try {
        await this.read(running)
        this.tries = 0
      } catch (err) {
        if (running.signal.aborted) return
        if (err instanceof Fault && (err.status === 410 || err.status === 400)) {
          this.cursor = ''
          this.missed()
          continue
        }
        this.tries++
      }
      if (running.signal.aborted) return
      if (!this.get().lost) this.set({ live: false, lost: Date.now() })
      await pause(Math.min(500 * 2 ** Math.min(this.tries, 4), 5000), running.signal)
    }
  }

  private async read(running: AbortController): Promise<void> {
    const attempt = new AbortController()
    const end = () => attempt.abort()
    running.signal.addEventListener('abort', end)
    let watch = setTimeout(end, silence)
    const began = this.cursor
    try {
      const answer = await send('GET', '/ferrite/v1/events', {
        signal: attempt.signal,
        headers: { Accept: 'text/event-stream' },
        query: { after: began || undefined },
      })
      const missed = began === '' && this.get().lost > 0
      this.set({ live: true, lost: 0 })
      this.tries = 0
      if (missed) this.missed()
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
      const decoder = new Decoder()
      for (;;) {
        const { value, done } = await reader.read()
        if (done) return
        clearTimeout(watch)
        watch = setTimeout(end, silence)
        const messages = decoder.push(value)
        if (messages.length === 0) continue
        for (const m of messages) if (m.id) this.cursor = m.id
        const events = messages.map((m) => JSON.parse(m.data) as Event)
        for (const tell of this.readers) tell(events)
      }
    } finally {
      clearTimeout(watch)
      running.signal.removeEventListener('abort', end)
      attempt.abort()
    }
  }

  private missed(): void {
    for (const restart of this.restarts) restart()
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

export const stream = new Stream({ live: false, lost: 0 })

document.addEventListener('visibilitychange', () => {
  if (document.hidden) stream.pause()
  else stream.start()
})
