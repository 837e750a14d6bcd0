import { useEffect, useRef, useState } from 'react'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { errorText } from '../../api/fault'
import { ferrite } from '../../api/machine'
import { call, path } from '../../api/client'
import { Notice } from '../../components/notice'
import { withSheets } from '../../lib/terminal-styles'
import type { TabProps } from '../machine'

/** Control is a message of the console beside its bytes. */
interface Control {
  role?: string
  holder?: string
  text?: string
  error?: string
}

/** Console is the serial console: one session has write access, all others are read only. */
export function Console({ node, reload }: TabProps) {
  const uuid = node.uuid ?? ''
  // as `ferrite node console`: it needs a driver with a serial line, and not Ironic's console_enabled
  const [on, setOn] = useState(Boolean(node.console_enabled))
  const [message, setMessage] = useState('')
  const [error, setError] = useState('')
  const [writes, setWrites] = useState(false)
  const [open, setOpen] = useState(false)
  const [quiet, setQuiet] = useState(false)
  const [turn, setTurn] = useState<{ write: boolean; take: boolean; count: number }>({ write: false, take: false, count: 0 })
  const screen = useRef<HTMLDivElement>(null)
  const buttons = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!on || !screen.current) return
    const terminal = new Terminal({ convertEol: false, scrollback: 5000, fontFamily: 'ui-monospace, monospace', fontSize: 13, screenReaderMode: true,
      theme: { background: '#000000', black: '#000000' } }) // firmware paints its background black
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
    let waiting = 0
    // A reader's Tab key goes on through the page; a writer's goes to the machine, and F6 leaves the terminal.
    terminal.attachCustomKeyEventHandler((event) => {
      if (event.key === 'F6') {
        event.preventDefault()
        if (event.type === 'keydown') buttons.current?.querySelector('button')?.focus()
        return false
      }
      return event.key !== 'Tab' || writing
    })
    socket.onopen = () => {
      setOpen(true)
      setError('')
      waiting = window.setTimeout(() => setQuiet(true), 1000) // the console sends its past at once
    }
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (typeof event.data !== 'string') {
        clearTimeout(waiting)
        setQuiet(false)
        return terminal.write(new Uint8Array(event.data))
      }
      const e = JSON.parse(event.data) as Control
      if (e.role) {
        writing = e.role === 'writer'
        setWrites(writing)
      }
      if (e.error) setError(e.error)
      else setMessage(e.text ?? (e.holder ? `${e.holder} has write access.` : ''))
    }
    socket.onclose = (event) => {
      setOpen(false)
      setWrites(false)
      setError((before) => before || event.reason || 'The console was closed.')
    }
    const typed = terminal.onData((data) => writing && socket.readyState === WebSocket.OPEN && socket.send(new TextEncoder().encode(data)))
    return () => {
      clearTimeout(waiting)
      setQuiet(false)
      socket.onclose = null
      socket.close()
      typed.dispose()
      resize.disconnect()
      terminal.dispose()
    }
  }, [uuid, on, turn])
  /** off also ends Ironic's own state of the console, where it is on. */
  const off = () => {
    setOn(false)
    if (node.console_enabled)
      void call('PUT', path('/v1/nodes/{node}/states/console', uuid), { body: { enabled: false } }).then(
        () => setTimeout(reload, 500),
        (err: unknown) => setError(errorText(err)),
      )
  }
  const again = (write: boolean, take = false) => {
    setError('')
    setTurn({ write, take, count: turn.count + 1 })
  }
  return (
    <section aria-label="Console">
      {error !== '' && <Notice kind="error">{error}</Notice>}
      {!on ? (
        <p>
          The console is off: this page does not read the serial line of the machine.{' '}
          <button type="button" className="primary" onClick={() => setOn(true)}>
            Turn the console on
          </button>
        </p>
      ) : (
        <>
          <p role="status" className="muted">
            {open ? (writes ? 'Read and write.' : 'Read only.') : 'Not connected.'} {message}
          </p>
          {open && quiet && (
            <p>
              The machine has printed nothing yet. {writes ? 'Click into the terminal and press Enter' : 'Request write access and press Enter'} for a login prompt, or reboot the
              machine to see its firmware.
            </p>
          )}
          <div className="terminal" ref={screen} />
          <p className="muted">Press F6 to leave the terminal: Tab goes to the machine.</p>
          <div className="row" ref={buttons}>
            {!writes && (
              <button type="button" onClick={() => again(true)}>
                Request write access
              </button>
            )}
            {!writes && (
              <button type="button" onClick={() => again(true, true)}>
                Take over write access
              </button>
            )}
            {writes && (
              <button type="button" onClick={() => again(false)}>
                Give up write access
              </button>
            )}
            {!open && (
              <button type="button" onClick={() => again(false)}>
                Reconnect
              </button>
            )}
            <button type="button" onClick={off}>
              Turn the console off
            </button>
          </div>
        </>
      )}
    </section>
  )
}
