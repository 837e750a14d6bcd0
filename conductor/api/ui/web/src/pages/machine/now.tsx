import type { TabProps } from '../machine'
import { Facts } from '../../components/facts'
import { Progress } from '../../components/progress'
import { useNow } from '../../hooks/use-now'
import { plainState } from '../../lib/classify'
import { asText, dateTime, duration, secondsSince, timeOfDay, visible } from '../../lib/format'

/** Now is what the machine does, what it waits for, until when, and what to try. */
export function Now({ node, status: s }: TabProps) {
  const now = useNow()
  const until = secondsSince(s?.until, now)
  const info = node.instance_info ?? {}
  const properties = node.properties ?? {}
  return (
    <>
      {s && (
        <section aria-labelledby="now-heading" className="now">
          <h2 id="now-heading" className="visually-hidden">
            Now
          </h2>
          {s.last_error && (
            <p className="notice notice-error">
              <strong>Last error:</strong> {visible(s.last_error)}
            </p>
          )}
          {s.fault && <p className="notice notice-error">Taken out of service by the conductor: {visible(s.fault)}</p>}
          {s.maintenance_reason && !s.fault && <p className="notice notice-info">In maintenance: {visible(s.maintenance_reason)}</p>}
          {(s.warnings ?? []).map((warning) => (
            <p key={warning} className="notice notice-info">
              {visible(warning)}
            </p>
          ))}
          <Facts
            of={[
              ['State', `${plainState(s.state)}${s.target ? `, on the way to ${s.target}` : ''}`],
              ['Activity', s.activity && `${s.activity}${s.since ? `, for ${duration(secondsSince(s.since, now))}` : ''}`],
              ['Waits for', s.waiting_for && visible(s.waiting_for)],
              ['Waits since', s.waiting_since && `${timeOfDay(s.waiting_since)}, ${duration(secondsSince(s.waiting_since, now))}`],
              ['Until', s.until && `${timeOfDay(s.until)}, ${until < 0 ? `${duration(-until)} left` : 'the time is over'}; then it has failed`],
              ['Try', s.try && <strong>{visible(s.try)}</strong>],
            ]}
          />
          {s.progress && (
            <Progress done={s.progress.done} total={s.progress.total} perSecond={s.progress.rate} left={s.progress.eta} what={`${s.progress.step} ${s.progress.stage ?? ''}`} />
          )}
          {(s.steps ?? []).length > 0 && (
            <>
              <h3>Steps</h3>
              <ol className="steps">
                {(s.steps ?? []).map((step, i) => (
                  <li key={`${i}${step}`} className={i < s.index ? 'past' : i === s.index ? 'present' : undefined} aria-current={i === s.index ? 'step' : undefined}>
                    {visible(step)}
                    {i < s.index && <span className="visually-hidden"> (done)</span>}
                  </li>
                ))}
              </ol>
            </>
          )}
          {(s.boot_stages ?? []).length > 0 && (
            <>
              <h3>Boot</h3>
              <ol className="stages">
                {(s.boot_stages ?? []).map((stage) => (
                  <li key={stage.at + stage.name}>
                    <time>{timeOfDay(stage.at)}</time> {visible(stage.name)} <span className="muted">{visible(stage.detail ?? '')}</span>
                  </li>
                ))}
              </ol>
            </>
          )}
        </section>
      )}
      <h2>About</h2>
      <Facts
        of={[
          ['UUID', <code>{node.uuid}</code>],
          ['Description', visible(node.description ?? '')],
          ['Driver', visible(node.driver ?? '')],
          ['BMC', asText(node.driver_info?.['redfish_address'] ?? node.driver_info?.['ipmi_address'])],
          ['Resource class', visible(node.resource_class ?? '')],
          ['Traits', (node.traits ?? []).map(visible).join(', ')],
          ['Owner', visible(node.owner ?? '')],
          ['Lessee', visible(node.lessee ?? '')],
          ['Health', visible(node.health ?? '')],
          ['Machine', asText([properties['vendor'], properties['product_name']].filter(Boolean).join(' '))],
          ['CPUs', asText(properties['cpus'])],
          ['Memory', properties['memory_mb'] ? `${asText(properties['memory_mb'])} MB` : ''],
          ['Boot mode', visible(node.boot_mode ?? '')],
          ['Image', asText(info['image_source'])],
          ['Instance', visible(node.instance_name ?? node.instance_uuid ?? '')],
          ['Allocation', node.allocation_uuid ?? ''],
          ['Conductor', visible([node.conductor, node.conductor_group].filter(Boolean).join(', '))],
          ['Power read', s?.power_read_at ? dateTime(s.power_read_at) : ''],
          ['Agent seen', s?.last_heartbeat ? dateTime(s.last_heartbeat) : ''],
          ['Enrolled', dateTime(node.created_at)],
        ]}
      />
    </>
  )
}
