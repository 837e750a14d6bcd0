import { get, path } from '../../api/client'
import type { Components } from '../../api/inventory'
import { Empty, Failed } from '../../components/notice'
import { Table } from '../../components/table'
import { useData } from '../../hooks/use-data'
import { asText, dateTime } from '../../lib/format'
import type { TabProps } from '../machine'

/** Firmware is the firmware of the machine's components, as its BMC tells. */
export function Firmware({ node }: TabProps) {
  const found = useData((signal) => get<{ firmware: Components }>(path('/v1/nodes/{node}/firmware', node.uuid ?? ''), { detail: 'true' }, signal), [node.uuid, node.updated_at])
  if (!found.data) return <Failed error={found.error} retry={found.reload} />
  if (found.data.firmware.length === 0) return <Empty>The BMC has reported no firmware. It is read when the machine is managed, cleaned or inspected.</Empty>
  return (
    <Table
      label="Firmware"
      rows={found.data.firmware}
      id={(c, i) => `${asText(c.component)}${i}`}
      columns={[
        { label: 'Component', of: (c) => asText(c.component) },
        { label: 'Version', of: (c) => <code>{asText(c.current_version)}</code> },
        { label: 'Initial', wide: true, of: (c) => asText(c.initial_version) },
        { label: 'Last flashed', wide: true, of: (c) => asText(c.last_version_flashed) },
        { label: 'Model', wide: true, of: (c) => [c.vendor, c.model].map(asText).filter(Boolean).join(' ') },
        { label: 'Read', wide: true, of: (c) => dateTime(c.updated_at ?? c.created_at) },
      ]}
    />
  )
}
