import type { TabProps } from '../machine'
import { About } from './about'
import { Facts } from '../../components/facts'
import { Progress } from '../../components/progress'
import { useNow } from '../../hooks/use-now'
import { inProgress, plainState } from '../../lib/classify'
import { duration, plural, secondsSince, timeOfDay, visible } from '../../lib/format'

/** Now is what the machine does, what it waits for, until when, and what to try. */
export function Now({ node, status: s }: TabProps) {
  const now = useNow()
  const until = secondsSince(s?.until, now)
  return (
    <>
      {s && (
        <section aria-labelledby="now-heading" className="now">
          <h2 id="now-heading" className="visually-hidden">
            Now
          </h2>
          {s.maintenance_reason && !s.fault && <p className="notice notice-info">In maintenance: {visible(s.maintenance_reason)}</p>}
          {(s.warnings ?? []).map((warning) => (
            <p key={warning} className="notice notice-info">
              {visible(warning)}
            </p>
          ))}
          <Facts
            of={[
              ['State', `${plainState(s.state)}${s.target && inProgress(s.state) ? `, on the way to ${s.target}` : ''}`],
              ['Activity', s.activity && `${s.activity}${s.since ? `, for ${duration(secondsSince(s.since, now))}` : ''}`],
              ['Waits for', s.waiting_for && visible(s.waiting_for)],
              ['Waits since', s.waiting_since && `${timeOfDay(s.waiting_since)}, ${duration(secondsSince(s.waiting_since, now))}`],
              ['Until', s.until && `${timeOfDay(s.until)}, ${until < 0 ? `${duration(-until)} left` : 'the time is over'}; then it has failed`],
            ]}
          />
          {s.progress && inProgress(s.state) && (
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
            <details className="boot" open={inProgress(s.state)}>
              <summary>
                <h3>Boot</h3> <span className="muted">{plural(s.boot_stages!.length, 'stage')}, the last one at {timeOfDay(s.boot_stages!.at(-1)!.at)}</span>
              </summary>
              <ol className="stages">
                {(s.boot_stages ?? []).map((stage) => (
                  <li key={stage.at + stage.name}>
                    <time>{timeOfDay(stage.at)}</time> {visible(stage.name)} <span className="muted">{visible(stage.detail ?? '')}</span>
                  </li>
                ))}
              </ol>
            </details>
          )}
        </section>
      )}
      <About node={node} status={s} />
    </>
  )
}
