// Every request to the conductor is made here.
import { Fault, faultText, unreachable } from './fault'
import { session } from './session'

export interface Options {
  body?: unknown
  /** type is the media type of the body; JSON when missing. */
  type?: string
  query?: Record<string, string | undefined> | undefined
  signal?: AbortSignal | undefined
  headers?: Record<string, string>
}

/** path puts values into the places of a path, escaped. */
export function path(template: string, ...values: string[]): string {
  let next = 0
  return template.replace(/\{[a-z]+\}/g, () => encodeURIComponent(values[next++] ?? ''))
}

function url(to: string, query: Options['query']): string {
  const given = Object.entries(query ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return given.length === 0 ? to : `${to}?${new URLSearchParams(given)}`
}

/** send makes a request, and answers with what it is answered; it is the caller's to read. */
export async function send(method: string, to: string, o: Options = {}): Promise<Response> {
  for (;;) {
    const headers: Record<string, string> = {
      Accept: 'application/json',
      'X-OpenStack-Ironic-API-Version': 'latest',
      'X-Ferrite-Session': session.word() || 'none',
      ...o.headers,
    }
    const init: RequestInit = { method, headers, signal: o.signal ?? null, credentials: 'same-origin', redirect: 'error' }
    if (o.body !== undefined) {
      headers['Content-Type'] = o.type ?? 'application/json'
      init.body = typeof o.body === 'string' ? o.body : JSON.stringify(o.body)
    }
    let answer: Response
    try {
      answer = await fetch(url(to, o.query), init)
    } catch (err) {
      if (o.signal?.aborted) throw err
      throw new Fault(unreachable, 'The conductor does not answer. The page continues by itself when it is back.')
    }
    if (answer.status === 401 && !headers['Authorization']) {
      await session.again() // the same request once more, by a new login
      continue
    }
    if (!answer.ok) throw new Fault(answer.status, await refusal(answer))
    return answer
  }
}

/** call makes a request, and returns the document of its answer. */
export async function call<T>(method: string, to: string, o: Options = {}): Promise<T> {
  const answer = await send(method, to, o)
  const text = await answer.text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

export const get = <T>(to: string, query?: Options['query'], signal?: AbortSignal): Promise<T> =>
  call<T>('GET', to, { query, signal })

async function refusal(answer: Response): Promise<string> {
  const text = await answer.text().catch(() => '')
  return faultText(text) || `${answer.status} ${answer.statusText}`
}

/** pages reads a collection page by page; the first one may be shorter, to be there sooner. */
export async function* pages<T>(
  to: string,
  key: string,
  query: Record<string, string> = {},
  signal?: AbortSignal,
  first?: number,
): AsyncGenerator<T[]> {
  let marker: string | undefined
  for (;;) {
    const limit = first && !marker ? String(first) : undefined
    const page = await get<Record<string, unknown>>(to, { ...query, marker, limit }, signal)
    yield (page[key] ?? []) as T[]
    const next = page['next']
    if (typeof next !== 'string') return
    marker = new URL(next, location.href).searchParams.get('marker') ?? undefined // its limit is that of this page
    if (!marker) return
  }
}

/** all reads a whole collection, which is a small one. */
export async function all<T>(to: string, key: string, query: Record<string, string> = {}, signal?: AbortSignal): Promise<T[]> {
  const found: T[] = []
  for await (const page of pages<T>(to, key, query, signal)) found.push(...page)
  return found
}

/** auditLines reads the audit, of one machine where a UUID is given: its newest lines, oldest first. The API ends with an empty page. */
export async function auditLines<T extends { id: number }>(most: number, signal?: AbortSignal, node?: string): Promise<T[]> {
  const kept: T[] = []
  for (let after = 0; ; after = kept.at(-1)!.id) {
    const query = { node, after: after > 0 ? String(after) : undefined }
    const answer = await send('GET', '/ferrite/v1/audit', { query, signal, headers: { Accept: 'application/x-ndjson' } })
    const lines = (await answer.text()).split('\n').filter((line) => line !== '')
    if (lines.length === 0) return kept
    kept.push(...lines.map((line) => JSON.parse(line) as T))
    kept.splice(0, kept.length - most)
  }
}
