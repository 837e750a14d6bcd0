import { useEffect, useRef, type ReactNode } from 'react'
import { session } from '../api/session'
import { stream } from '../api/stream'
import { useNow } from '../hooks/use-now'
import { useRoute } from '../hooks/use-route'
import { useStore } from '../hooks/use-store'
import { helpOf } from '../lib/docs'
import { shortDuration } from '../lib/format'
import { address } from '../lib/route'
import { entries } from '../pages'
import { Dialog } from './dialog'
import { Link } from './link'
import { LoginForm } from './login'
import { Logo } from './logo'

/** Layout is what is around every page: the pages, the stream, the user. */
export function Layout({ children }: { children: ReactNode }) {
  const { ended, session: who } = useStore(session)
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Link to={address([])} className="brand">
          <Logo />
          Ferrite
        </Link>
        <Live />
        <Help />
        <Menu />
      </header>
      <Lost />
      <div className="frame">
        <nav className="side" aria-label="Pages">
          <Pages />
        </nav>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      {ended && (
        <Dialog title="Your login has ended">
          <p>Log in again, and the page continues where it was. What you have typed is kept.</p>
          <LoginForm user={who?.user ?? ''} />
        </Dialog>
      )}
    </>
  )
}

function Pages() {
  const { page } = useRoute()
  const here = page === 'machines' ? '' : page
  return (
    <ul>
      {entries
        .filter((entry) => session.may(entry.rule))
        .map((entry) => (
          <li key={entry.page}>
            <Link to={address(entry.page === '' ? [] : [entry.page])} aria-current={here === entry.page ? 'page' : undefined}>
              {entry.label}
            </Link>
          </li>
        ))}
    </ul>
  )
}

/** Menu has the user, and on a narrow screen the pages. */
function Menu() {
  const { session: who } = useStore(session)
  const ref = useRef<HTMLDetailsElement>(null)
  const route = useRoute()
  useEffect(() => {
    if (ref.current) ref.current.open = false
  }, [route])
  return (
    <details className="menu" ref={ref} onKeyDown={(event) => event.key === 'Escape' && ref.current && (ref.current.open = false)}>
      <summary>
        <span className="who">{who?.user || 'Menu'}</span>
        <span className="role">{who?.user ? who.role : 'no login'}</span>
      </summary>
      <div className="menu-body">
        <nav className="narrow" aria-label="Pages, in the menu">
          <Pages />
        </nav>
        {who?.user ? (
          <>
            <p>
              {who.user}, {who.role}
              {who.project !== '' && ` of ${who.project}`}
            </p>
            <button type="button" onClick={() => void session.logout()}>
              Log out
            </button>
          </>
        ) : (
          <p>This conductor needs no login.</p>
        )}
      </div>
    </details>
  )
}

/** Help leads to the page of the documentation that this page belongs to; the documents are no pages of the interface. */
function Help() {
  const { page, query } = useRoute()
  return (
    <a className="help-link" href={helpOf(page, query.get('tab') ?? '')} aria-label="Help: the documentation of this page">
      Help
    </a>
  )
}

function Live() {
  const { live } = useStore(stream)
  return (
    <span className={live ? 'live' : 'live off'} role="status">
      <span className="dot" aria-hidden="true" />
      {live ? 'live' : 'not live'}
    </span>
  )
}

/** Lost says that what is shown may be old. */
function Lost() {
  const { lost } = useStore(stream)
  const now = useNow()
  if (lost === 0 || now - lost < 1000) return null
  return (
    <div className="lost" role="alert">
      Connection to the event stream lost {shortDuration((now - lost) / 1000)} ago. This page may be out of date. Reconnecting …
    </div>
  )
}
