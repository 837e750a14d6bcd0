import { visible } from '../lib/format'
import { address, type Route } from '../lib/route'
import { Link } from './link'

/** NoPage says that an address leads nowhere, and leads back: to the machine, where the address begins with that of one. */
export function NoPage({ route: { page, rest } }: { route: Route }) {
  const machine = page === 'machines' ? rest[0] : undefined
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        <code>{visible(location.pathname)}</code> is no page of the web interface.
      </p>
      <p className="row">
        {machine !== undefined && (
          <Link to={address(['machines', machine])} className="button">
            {visible(machine)}
          </Link>
        )}
        <Link to={address([])} className="button">
          All machines
        </Link>
      </p>
    </>
  )
}
