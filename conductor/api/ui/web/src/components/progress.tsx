import { bytes, duration, rate } from '../lib/format'

/** Progress is how far a step is, with its rate and the time that is left. */
export function Progress({ done, total, perSecond, left, what }: { done: number; total: number; perSecond?: number; left?: number; what: string }) {
  const percent = total > 0 ? Math.min(100, (100 * done) / total) : null
  return (
    <div className="progress">
      <progress aria-label={what} max={100} {...(percent === null ? {} : { value: percent })} />
      <span>
        {percent !== null && `${Math.floor(percent)} %, `}
        {bytes(done)}
        {total > 0 && ` of ${bytes(total)}`}
        {perSecond !== undefined && perSecond > 0 && `, ${rate(perSecond)}`}
        {left !== undefined && left > 0 && `, ${duration(left)} left`}
      </span>
    </div>
  )
}
