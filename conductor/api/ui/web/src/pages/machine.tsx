import { useEffect, useRef } from 'react'
import { readNode, readStatus } from '../api/machine'
import { fromNode } from '../api/row'
import type { Node, Status } from '../api/types'
import { Boundary } from '../components/boundary'
import { Link } from '../components/link'
import { Power, State } from '../components/mark'
import { Empty, Failed } from '../components/notice'
import { useData } from '../hooks/use-data'
import { useEvents } from '../hooks/use-events'
import { useRoute } from '../hooks/use-route'
import { visible } from '../lib/format'
import { address } from '../lib/route'
import { tabs } from './machine/tabs'
import { Verbs } from './machine/verbs'

/** TabProps is what a part of a machine's page is given. */
export interface TabProps {
  node: Node
  status: Status | undefined
  reload: () => void
}

/** MachinePage is one machine. */
export function MachinePage() {
  const { rest, query } = useRoute()
  const id = rest[0] ?? ''
  const node = useData((signal) => readNode(id, signal), [id])
  const status = useData((signal) => readStatus(id, signal), [id])
  const later = useRef(0)
  const reload = () => {
    node.reload()
    status.reload()
  }
  const soon = (delay: number) => {
    if (!later.current)
      later.current = window.setTimeout(() => {
        later.current = 0
        reload()
      }, delay)
  }
  useEvents(
    (events) => {
      if (events.some((e) => e.node && (e.node.uuid === id || e.node.uuid === node.data?.uuid))) soon(150)
    },
    () => soon(0),
  )
  useEffect(() => () => clearTimeout(later.current), [])
  const n = node.data
  if (!n)
    return (
      <>
        <h1>{visible(id)}</h1>
        {node.error === '' ? <p className="empty">Reading …</p> : <Failed error={node.error} retry={reload} />}
        <p>
          <Link to={address([])} className="button">
            All machines
          </Link>
        </p>
      </>
    )
  const machine = fromNode(n)
  const name = visible(n.name || n.uuid || '')
  const shown = tabs.filter((t) => t.when(n))
  const wanted = query.get('tab') ?? 'now'
  const tab = shown.find((t) => t.id === wanted)
  return (
    <>
      <title>{`${name} – Ferrite`}</title>
      <p className="crumbs">
        <Link to={address([])}>Machines</Link>
      </p>
      <div className="heading">
        <h1>{name}</h1>
        <State state={machine.state} />
        <Power power={machine.power} />
        {machine.maintenance && <span className="tag">in maintenance</span>}
        {n.protected && <span className="tag">protected</span>}
        {machine.retired && <span className="tag">retired</span>}
      </div>
      <Failed error={node.error} retry={reload} />
      <Verbs machine={machine} node={n} status={status.data} changed={reload} />
      <nav className="tabs" aria-label="Parts of the page">
        {shown.map((t) => (
          <Link key={t.id} to={address(['machines', id], { tab: t.id === 'now' ? '' : t.id })} aria-current={t === tab ? 'page' : undefined}>
            {t.label}
          </Link>
        ))}
      </nav>
      <Boundary key={wanted}>{tab ? <tab.Part node={n} status={status.data} reload={reload} /> : <Empty>This machine’s page has no part “{visible(wanted)}”, or your role does not show it.</Empty>}</Boundary>
    </>
  )
}
