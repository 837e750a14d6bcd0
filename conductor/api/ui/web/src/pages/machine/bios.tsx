import { useState } from 'react'
import { get, path } from '../../api/client'
import type { Bios as Settings } from '../../api/inventory'
import { Empty, Failed } from '../../components/notice'
import { Table } from '../../components/table'
import { useData } from '../../hooks/use-data'
import { asText } from '../../lib/format'
import type { TabProps } from '../machine'

/** Bios is the BIOS settings, as the machine's BMC tells. */
export function Bios({ node }: TabProps) {
  const found = useData((signal) => get<{ bios: Settings }>(path('/v1/nodes/{node}/bios', node.uuid ?? ''), { detail: 'true' }, signal), [node.uuid, node.updated_at])
  const [words, setWords] = useState('')
  if (!found.data) return <Failed error={found.error} retry={found.reload} />
  if (found.data.bios.length === 0) return <Empty>The BMC has reported no BIOS settings. They are read when the machine is managed or cleaned.</Empty>
  const shown = found.data.bios.filter((s) => `${asText(s.name)} ${asText(s.value)}`.toLowerCase().includes(words.toLowerCase()))
  return (
    <section aria-label="BIOS settings">
      <label className="find">
        <span className="visually-hidden">Find a setting</span>
        <input type="search" placeholder="Find a setting" value={words} onChange={(e) => setWords(e.target.value)} />
      </label>
      <Table
        label="BIOS settings"
        rows={shown}
        id={(s) => asText(s.name)}
        columns={[
          { label: 'Setting', of: (s) => <code>{asText(s.name)}</code> },
          { label: 'Value', of: (s) => <strong>{asText(s.value)}</strong> },
          { label: 'Allowed values', wide: true, of: (s) => (Array.isArray(s.allowable_values) ? s.allowable_values.map(asText).join(', ') : range(s.lower_bound, s.upper_bound)) },
          { label: 'Kind', wide: true, of: (s) => [asText(s.attribute_type), s.read_only === true && 'read only', s.reset_required === true && 'needs a reset'].filter(Boolean).join(', ') },
        ]}
      />
    </section>
  )
}

const range = (lower: unknown, upper: unknown): string => (asText(lower) || asText(upper) ? `${asText(lower)} to ${asText(upper)}` : '')
