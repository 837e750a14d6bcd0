// The login of this browser: whose it is, what it may do, and how it begins again when it has ended.
import type { Session } from './types'
import { Fault, faultText, unreachable } from './fault'
import { Store } from '../lib/store'

const where = '/ferrite/v1/session'

/** linkScheme is the scheme of the header Authorization for a link that logs in once. */
export const linkScheme = 'Ferrite-Link'

export interface SessionState {
  /** session is null before it is known. */
  session: Session | null
  /** ended: it was there, and does not hold any more; what the user does is kept, and goes on after a login. */
  ended: boolean
  /** asked: the conductor wants a login. */
  asked: boolean
  /** token is that of the link by which the page was opened. */
  token: string
  /** link is the secret of a link that logs its user in once. */
  link: string
}

class SessionStore extends Store<SessionState> {
  private waiting: (() => void)[] = []

  word(): string {
    return this.get().session?.word ?? ''
  }

  /** may reports whether a rule of the policy is met, for a node of the caller's project or for everything. */
  may(rule: string, owner?: string, lessee?: string): boolean {
    const s = this.get().session
    if (!s) return false
    if (s.rules.always.includes(rule)) return true
    if (s.project === '') return false
    if (owner === undefined) return s.rules.owned.includes(rule) || s.rules.lent.includes(rule)
    return (owner === s.project && s.rules.owned.includes(rule)) || (lessee === s.project && s.rules.lent.includes(rule))
  }

  /**
   * begin asks who the user is. A token or one-time secret behind the # of a link is put into the form, and taken out of the
   * address. It is not sent without a click: a link of somebody else would make the user work as that one.
   */
  async begin(): Promise<void> {
    const given = new URLSearchParams(location.hash.slice(1))
    const [token, link] = [given.get('token') ?? '', given.get('link') ?? '']
    if (token || link) {
      history.replaceState(null, '', location.pathname + location.search)
      this.set({ token, link })
    }
    const answer = await ask('GET')
    if (answer.status === 401) return this.set({ asked: true })
    if (!answer.ok) throw new Fault(answer.status, `${answer.status} ${answer.statusText}`)
    this.set({ session: (await answer.json()) as Session, asked: false, ended: false })
  }

  /** login begins a session; authorization is the value of the header. */
  async login(authorization: string): Promise<void> {
    const answer = await ask('POST', { Authorization: authorization })
    if (answer.status === 401) {
      const byLink = authorization.startsWith(`${linkScheme} `)
      if (byLink) this.set({ link: '' }) // it will not be taken later, either
      throw new Fault(401, byLink ? faultText(await answer.text()) : 'The conductor does not know this login.')
    }
    if (!answer.ok) throw new Fault(answer.status, faultText(await answer.text()) || `${answer.status} ${answer.statusText}`)
    this.set({ session: (await answer.json()) as Session, asked: false, ended: false, token: '', link: '' })
    for (const go of this.waiting.splice(0)) go()
  }

  async logout(): Promise<void> {
    await ask('DELETE', { 'X-Ferrite-Session': this.word() })
    location.assign('/ui/')
  }

  /** again is when there is a login that holds. */
  again(): Promise<void> {
    this.set(this.get().session ? { ended: true } : { asked: true })
    return new Promise((resolve) => this.waiting.push(resolve))
  }
}

async function ask(method: string, headers: Record<string, string> = {}): Promise<Response> {
  try {
    return await fetch(where, { method, headers: { 'X-Ferrite-Session': 'none', ...headers }, credentials: 'same-origin' })
  } catch {
    throw new Fault(unreachable, 'The conductor does not answer.')
  }
}

export const session = new SessionStore({ session: null, ended: false, asked: false, token: '', link: '' })

/** basic is the header of a name and a password. */
export function basic(user: string, password: string): string {
  const text = new TextEncoder().encode(`${user}:${password}`)
  return `Basic ${btoa(String.fromCharCode(...text))}`
}
