import { useState, type FormEvent } from 'react'
import { errorText } from '../api/fault'
import { basic, linkScheme, session } from '../api/session'
import { useStore } from '../hooks/use-store'
import { helpOf } from '../lib/docs'
import { Logo } from './logo'
import { Notice } from './notice'

/** LoginForm takes a password, a token, or the link by which the page was opened. The fields are given to nobody but the conductor. */
export function LoginForm({ user: known = '' }: { user?: string }) {
  const [how, setHow] = useState<'password' | 'token'>(session.get().token === '' ? 'password' : 'token')
  const { link } = useStore(session)
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '')
    setBusy(true)
    setError('')
    session
      .login(link !== '' ? `${linkScheme} ${link}` : how === 'password' ? basic(text('user'), text('password')) : `Bearer ${text('token').trim()}`)
      .catch((err: unknown) => setError(errorText(err)))
      .finally(() => setBusy(false))
  }
  return (
    <form className="login" onSubmit={submit}>
      {error !== '' && <Notice kind="error">{error}</Notice>}
      {link !== '' ? (
        <p>This link logs you in once.</p>
      ) : how === 'password' ? (
        <>
          <label>
            User
            <input name="user" autoComplete="username" defaultValue={known} required autoFocus={known === ''} />
          </label>
          <label>
            Password
            <input name="password" type="password" autoComplete="current-password" required autoFocus={known !== ''} />
          </label>
        </>
      ) : (
        <label>
          Token
          <input name="token" type="password" autoComplete="off" defaultValue={session.get().token} required autoFocus />
        </label>
      )}
      <div className="row">
        <button className="primary" disabled={busy}>
          Log in
        </button>
        {link === '' && (
          <button type="button" className="quiet" onClick={() => setHow(how === 'password' ? 'token' : 'password')}>
            {how === 'password' ? 'Use a token' : 'Use a password'}
          </button>
        )}
      </div>
    </form>
  )
}

/** Login is the page before all others, where the conductor asks for one. */
export const Login = () => (
  <main className="gate">
    <h1 className="brand">
      <Logo /> Ferrite
    </h1>
    <LoginForm />
    <p>
      <a className="help-link" href={helpOf('users', '')}>
        Help: users, passwords and tokens
      </a>
    </p>
  </main>
)
