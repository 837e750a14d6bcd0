import { all, get, path } from '../../api/client'
import { readInventory } from '../../api/inventory'
import { session } from '../../api/session'
import type { HistoryEntry, Lease, Node, Port, Status } from '../../api/types'
import { Facts } from '../../components/facts'
import { Link } from '../../components/link'
import { useData } from '../../hooks/use-data'
import { useNow } from '../../hooks/use-now'
import { asText, bytes, dateTime, shortDuration, visible } from '../../lib/format'
import { address } from '../../lib/route'
import { inLabels } from '../../lib/words'

/** About is what the machine is, what runs on it, and who put it there. */
export function About({ node, status: s }: { node: Node; status: Status | undefined }) {
  const uuid = node.uuid ?? ''
  const may = (rule: string) => session.may(rule, node.owner ?? '', node.lessee ?? '')
  const addresses = useData((signal) => readAddresses(uuid, may, signal), [uuid, node.provision_state])
  const hardware = useData((signal) => (may('baremetal:node:inventory:get') ? readInventory(uuid, signal) : Promise.resolve(null)), [uuid, node.inspection_finished_at])
  const history = useData((signal) => (may('baremetal:node:history:get') ? readHistory(uuid, signal) : Promise.resolve([])), [uuid, node.provision_state, node.last_error])
  const now = useNow(10_000)
  const info = node.instance_info ?? {}
  const properties = node.properties ?? {}
  const sum = asText(info['image_os_hash_value'] ?? info['image_checksum'])
  return (
    <>
      <h2>About</h2>
      <Facts
        of={[
          ['IP address', (addresses.data ?? []).map(visible).join(', ')],
          ['BMC', asText(node.driver_info?.['redfish_address'] ?? node.driver_info?.['ipmi_address'])],
          ['Image', asText(info['image_source'])],
          ['Checksum', sum !== '' && <code title={sum}>{[info['image_os_hash_algo'], sum.length > 20 && !sum.includes('/') ? `${sum.slice(0, 16)}…` : sum].filter(Boolean).map(asText).join(':')}</code>],
          ['Last deployed', lastDeploy(history.data ?? [])],
          ['Instance', visible(node.instance_name ?? node.instance_uuid ?? '')],
          ['Machine', asText([properties['vendor'], properties['product_name']].filter(Boolean).join(' '))],
          ['CPUs', asText(properties['cpus'])],
          ['Memory', memory(Number(properties['memory_mb'] ?? 0))],
          ['Disks', (hardware.data?.disks ?? []).map((d) => `${visible(d.name.replace('/dev/', ''))} ${bytes(d.size)}`).join(', ')],
          ['Boot mode', visible(node.boot_mode ?? '')],
          ['Health', visible(node.health ?? '')],
          ['Resource class', visible(node.resource_class ?? '')],
          ['Traits', (node.traits ?? []).map(visible).join(', ')],
          ['Owner', visible(node.owner ?? '')],
          ['Lessee', visible(node.lessee ?? '')],
          ['Allocation', node.allocation_uuid ?? ''],
          ['Description', visible(node.description ?? '')],
          ['Driver', visible(node.driver ?? '')],
          ['Conductor', visible([node.conductor, node.conductor_group].filter(Boolean).join(', '))],
          ['Power read', s?.power_read_at ? dateTime(s.power_read_at) : ''],
          ['Agent seen', s?.last_heartbeat ? dateTime(s.last_heartbeat) : ''],
          ['Enrolled', dateTime(node.created_at)],
          ['UUID', <code>{node.uuid}</code>],
        ]}
      />
      {history.data && history.data.length > 0 && (
        <>
          <h2>Lately</h2>
          <ul className="lately">
            {history.data.slice(0, 8).map((h) => (
              <li key={h.uuid}>
                <time dateTime={h.created_at ?? ''} title={dateTime(h.created_at)}>{shortDuration((now - Date.parse(h.created_at ?? '')) / 1000)} ago</time>
                <span className={h.severity === 'ERROR' ? 'bad' : ''}>{visible(inLabels(h.event ?? ''))}</span>
                {h.user && <span className="muted">by {visible(h.user)}</span>}
              </li>
            ))}
          </ul>
          <p>
            <Link to={address(['machines', uuid], { tab: 'timeline' })}>The whole time line</Link>
          </p>
        </>
      )}
    </>
  )
}

/** memory is written as modules of memory are sold: in powers of 1,024. */
const memory = (mb: number): string => (mb > 0 ? (mb < 1024 ? `${mb} MiB` : `${Math.round(mb / 102.4) / 10} GiB`) : '')

/** readAddresses are the addresses that the boot service lent to the machine's ports. The conductor may serve no boot network. */
async function readAddresses(uuid: string, may: (rule: string) => boolean, signal: AbortSignal): Promise<string[]> {
  if (!session.may('ferrite:lease:get') || !may('baremetal:port:list')) return []
  const [ports, { leases }] = await Promise.all([
    all<Port>(path('/v1/nodes/{node}/ports', uuid), 'ports', {}, signal),
    get<{ leases: Lease[] }>('/ferrite/v1/leases', undefined, signal),
  ])
  const macs = new Set(ports.map((p) => (p.address ?? '').toLowerCase()))
  return leases.filter((l) => macs.has(l.mac.toLowerCase())).map((l) => l.ip)
}

/** readHistory is the machine's history, the newest entry first. */
async function readHistory(uuid: string, signal: AbortSignal): Promise<HistoryEntry[]> {
  const history = await all<HistoryEntry>(path('/v1/nodes/{node}/history', uuid), 'history', { detail: 'true' }, signal)
  return history.reverse().sort((a, b) => Date.parse(b.created_at ?? '') - Date.parse(a.created_at ?? ''))
}

/** lastDeploy is when the machine was deployed last, by whom, and how long it took; '' for never. */
function lastDeploy(history: HistoryEntry[]): string {
  const deploys = history.filter((h) => h.event_type === 'deploy' && h.severity !== 'ERROR')
  const last = deploys.find((h) => / done\b/.test(h.event ?? ''))
  if (!last) return ''
  const took = / done in ([\d.a-zµ]+)/.exec(last.event ?? '')?.[1] // duration_seconds is that of its last state alone
  const by = deploys.find((h) => h.user)?.user
  return `${dateTime(last.created_at)}${by ? ` by ${visible(by)}` : ''}${took ? `, in ${took}` : ''}`
}
