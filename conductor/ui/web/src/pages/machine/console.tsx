import { useEffect, useRef, useState } from 'react'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { ferrite } from '../../api/machine'
import { call, path } from '../../api/client'
import { Notice } from '../../components/notice'
import { withSheets } from '../../lib/terminal-styles'
import type { TabProps } from '../machine'

interface Told {
  role?: string
  holder?: string
  text?: string
  error?: string
}

/** Console is the serial console: one writes, and all may look on. */
export function Console({ node, reload }: TabProps) {
  const uuid = node.uuid ?? ''
  const [told, setTold] = useState('')
  const [error, setError] = useState('')
  const [writes, setWrites] = useState(false)
  const [open, setOpen] = useState(false)
  const [turn, setTurn] = useState<{ write: boolean; take: boolean; count: number }>({ write: false, take: false, count: 0 })
  const screen = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!node.console_enabled || !screen.current) return
    const terminal = new Terminal({ convertEol: false, scrollback: 5000, fontFamily: 'ui-monospace, monospace', fontSize: 13, screenReaderMode: true })
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    withSheets(() => terminal.open(screen.current!))
    fit.fit()
    const resize = new ResizeObserver(() => fit.fit())
    resize.observe(screen.current)
    const query = new URLSearchParams()
    if (turn.write) query.set('write', 'true')
    if (turn.take) query.set('take', 'true')
    const where = `${location.origin.replace(/^http/, 'ws')}${ferrite(uuid, '/console')}?${query}`
    const socket = new WebSocket(where, 'console.v1.ferrite')
    socket.binaryType = 'arraybuffer'
    let writing = false
    socket.onopen = () => {
      setOpen(true)
      setError('')
    }
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (typeof event.data !== 'string') return terminal.write(new Uint8Array(event.data))
      const e = JSON.parse(event.data) as Told
      if (e.role) {
        writing = e.role === 'writer'
        setWrites(writing)
      }
      if (e.error) setError(e.error)
      else setTold(e.text ?? (e.holder ? `${e.holder} writes.` : ''))
    }
    socket.onclose = (event) => {
      setOpen(false)
      setWrites(false)
      setError((before) => before || event.reason || 'The console was closed.')
    }
    const typed = terminal.onData((data) => writing && socket.readyState === WebSocket.OPEN && socket.send(new TextEncoder().encode(data)))
    return () => {
      socket.onclose = null
      socket.close()
      typed.dispose()
      resize.disconnect()
      terminal.dispose()
    }
  }, [uuid, node.console_enabled, turn])
  const enable = (enabled: boolean) =>
    void call('PUT', path('/v1/nodes/{node}/states/console', uuid), { body: { enabled } }).then(
      () => setTimeout(reload, 500),
      (err: unknown) => setError(err instanceof Error ? err.message : String(err)),
    )
  const again = (write: boolean, take = false) => {
    setError('')
    setTurn({ write, take, count: turn.count + 1 })
  }
  return (
    <section aria-label="Console">
      {error !== '' && <Notice kind="error">{error}</Notice>}
      {!node.console_enabled ? (
        <p>
          The console is closed.{' '}
          <button type="button" onClick={() => enable(true)}>
            Open it
          </button>
        </p>
      ) : (
        <>
          <p role="status" className="muted">
            {open ? (writes ? 'You write.' : 'You look on.') : 'Not connected.'} {told}
          </p>
          <div className="terminal" ref={screen} />
          <div className="row">
            {!writes && (
              <button type="button" onClick={() => again(true)}>
                Write
              </button>
            )}
            {!writes && (
              <button type="button" onClick={() => again(true, true)}>
                Take it from whoever writes
              </button>
            )}
            {writes && (
              <button type="button" onClick={() => again(false)}>
                Only look on
              </button>
            )}
            {!open && (
              <button type="button" onClick={() => again(false)}>
                Connect again
              </button>
            )}
            <button type="button" onClick={() => enable(false)}>
              Close the console
            </button>
          </div>
        </>
      )}
    </section>
  )
}
