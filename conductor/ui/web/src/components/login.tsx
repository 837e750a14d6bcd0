import { useState, type FormEvent } from 'react'
import { basic, session } from '../api/session'
import { Notice } from './notice'

/** LoginForm takes a password or a token. The fields are given to nobody but the conductor. */
export function LoginForm({ user: known = '' }: { user?: string }) {
  const [how, setHow] = useState<'password' | 'token'>(session.get().token === '' ? 'password' : 'token')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '')
    setBusy(true)
    setError('')
    session
      .login(how === 'password' ? basic(text('user'), text('password')) : `Bearer ${text('token').trim()}`)
      .catch((err: unknown) => setError(err instanceof Error ? err.message : String(err)))
      .finally(() => setBusy(false))
  }
  return (
    <form className="login" onSubmit={submit}>
      {error !== '' && <Notice kind="error">{error}</Notice>}
      {how === 'password' ? (
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
        <button type="button" className="quiet" onClick={() => setHow(how === 'password' ? 'token' : 'password')}>
          {how === 'password' ? 'Use a token' : 'Use a password'}
        </button>
      </div>
    </form>
  )
}

/** Login is the page before all others, where the conductor asks for one. */
export const Login = () => (
  <main className="gate">
    <h1>Ferrite</h1>
    <LoginForm />
  </main>
)
