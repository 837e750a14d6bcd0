import { call } from '../../api/client'
import { readInventory } from '../../api/inventory'
import { ferrite } from '../../api/machine'
import type { RootDevice } from '../../api/types'
import { Empty, Failed } from '../../components/notice'
import { Table } from '../../components/table'
import { useData } from '../../hooks/use-data'
import { asText, bytes, visible } from '../../lib/format'
import type { TabProps } from '../machine'

/** Disks are the disks of the last inspection, and which of them would be installed onto, and why not the others. */
export function Disks({ node }: TabProps) {
  const uuid = node.uuid ?? ''
  const found = useData((signal) => readInventory(uuid, signal), [uuid, node.inspection_finished_at])
  const verdict = useData(
    (signal) => call<RootDevice>('POST', ferrite(uuid, '/root-device'), { body: {}, signal }).catch(() => null),
    [uuid, node.inspection_finished_at, JSON.stringify(node.properties?.['root_device'] ?? null)],
  )
  if (found.data === undefined) return <Failed error={found.error} retry={found.reload} />
  if (found.data === null || found.data.disks.length === 0) return <Empty>No inspection has reported disks yet. Use “Inspect” when the machine is manageable.</Empty>
  const why = new Map((verdict.data?.disks ?? []).map((d) => [d.name, d]))
  return (
    <section aria-label="Disks">
      {verdict.data && (
        <p>
          {verdict.data.disk ? (
            <>
              A deploy would install onto <strong>{visible(verdict.data.disk)}</strong>.
            </>
          ) : (
            <strong>{visible(verdict.data.refusal ?? '')}</strong>
          )}{' '}
          <span className="muted">Root device hints: {hints(verdict.data.root_device) || 'none'}.</span>
        </p>
      )}
      {!found.data.disks.some((d) => d.name.startsWith('/dev/')) && (
        <p className="notice notice-info">
          These are the disks that the BMC reports. The ramdisk may see others, and decides at the deploy: inspect with inspect_interface agent to see its choice.
        </p>
      )}
      <Table
        label="Disks"
        rows={found.data.disks}
        id={(d) => d.name}
        columns={[
          { label: 'Name', of: (d) => <code>{visible(d.name)}</code> },
          { label: 'Size', number: true, of: (d) => bytes(d.size) },
          { label: 'Model', of: (d) => asText(d.model) },
          { label: 'Serial', wide: true, of: (d) => asText(d.serial) },
          { label: 'Kind', wide: true, of: (d) => [d.name.startsWith('/dev/vd') ? 'virtual' : d.rotational ? 'rotating' : 'solid state', asText(d.tran)].filter(Boolean).join(', ') },
          {
            label: 'Verdict',
            of: (d) => {
              const v = why.get(d.name)
              return v && <span className={v.taken ? 'good' : 'muted'}>{v.taken ? `✓ ${visible(v.why) || 'taken'}` : visible(v.why)}</span>
            },
          },
        ]}
      />
    </section>
  )
}

/** hints are root device hints in words; "" for none. */
function hints(value: unknown): string {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? '' : asText(value)
}
