import { useState } from 'react'
import { session } from '../../api/session'
import { Command } from '../../components/copy'
import { Link } from '../../components/link'
import { ways } from '../../lib/begin'
import { helpOf } from '../../lib/docs'
import { address } from '../../lib/route'

/** FirstSteps is what an empty installation shows: three ways to begin, the first one open. Beside a few machines all are folded. */
export function FirstSteps({ more = false }: { more?: boolean }) {
  const may = session.may('baremetal:node:create')
  const [open, setOpen] = useState(more ? -1 : 0)
  return (
    <section className="begin" aria-labelledby="begin">
      <h2 id="begin">{more ? 'More machines' : 'No machine is known yet'}</h2>
      <p>{more ? 'There are three ways to add them.' : may ? 'There are three ways to begin. They can be combined, and none of them touches a machine before you request it.' : 'Your role cannot add one. An admin has three ways:'}</p>
      {ways(location.origin, session.get().session?.user ?? '').map((way, i) => (
        <details key={way.title} open={open === i} onToggle={(e) => e.currentTarget.open && setOpen(i)}>
          <summary>
            <span className="number" aria-hidden="true">{i + 1}</span>
            <span>
              <b>{way.title}</b> <span className="muted">{way.means}</span>
            </span>
          </summary>
          <p>
            {may && way.page && (
              <Link to={address([way.page.to])} className={i === 0 && !more ? 'button primary' : 'button'}>
                {way.page.label}
              </Link>
            )}{' '}
            <a href={helpOf(way.help, '')}>How it works</a>
          </p>
          <p className="muted">{way.where}</p>
          <Command text={way.command} label={`the commands of “${way.title}”`} />
        </details>
      ))}
    </section>
  )
}
