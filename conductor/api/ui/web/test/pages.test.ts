import { describe, expect, it, vi } from 'vitest'
import { auditLines } from '../src/api/client'
import { withoutStatus } from '../src/api/hosts'
import { acceptance, nameErrors } from '../src/lib/accept'
import { changes, has } from '../src/lib/audit'
import { kinds } from '../src/lib/records'

describe('accepting machines', () => {
  it('refuses names that cannot be, and those given twice', () => {
    expect(nameErrors([['a', 'web-1'], ['b', 'web-1'], ['c', 'not a name'], ['d', ''], ['e', 'x.y']])).toEqual({
      b: 'Another one of these has this name.', c: 'Letters, digits, dots and dashes alone.',
    })
  })
  it('gives credentials of the driver, and leaves what was not typed', () => {
    const said = { name: 'web-1', user: 'admin', password: 'x', resourceClass: '' }
    expect(acceptance({ driver: 'ipmi' }, said).map((c) => c.path)).toEqual(['/name', '/driver_info/ipmi_username', '/driver_info/ipmi_password'])
    expect(acceptance({ driver: 'redfish', name: 'web-1' }, { ...said, user: '', password: '' })).toEqual([])
  })
})

describe('the audit', () => {
  const entry = { user: 'ada', path: '/v1/nodes/web-1', status: 202, changes: [{ field: 'owner', new: '"blue"' }] }
  it.each([['ada web-1', true], ['owner', true], ['ada web-2', false], ['', true]])('%s', (words, want) => expect(has(entry, words)).toBe(want))
  it('is read up to an empty page, the newest lines', async () => {
    const pages = ['{"id":1}\n{"id":2}\n{"id":3}\n', '{"id":7}\n', '']
    const asked: string[] = []
    vi.stubGlobal('fetch', (url: string) => {
      asked.push(url)
      return Promise.resolve(new Response(pages.shift()))
    })
    expect((await auditLines(2, undefined, 'n')).map((line) => line.id)).toEqual([3, 7])
    expect(asked).toEqual(['', '&after=3', '&after=7'].map((after) => `/ferrite/v1/audit?node=n${after}`))
    vi.unstubAllGlobals()
  })
  it('says what was changed', () => expect(changes(entry)).toBe('owner: none → "blue"'))
})

describe('documents', () => {
  it('are shown without their status', () => expect(withoutStatus('spec:\n  a: status\nstatus:\n  b: 1\n')).toBe('spec:\n  a: status\n'))
})

describe('records', () => {
  it('have an example that is JSON, and columns', () => {
    for (const kind of Object.values(kinds)) {
      expect(JSON.parse(JSON.stringify(kind.example))).toEqual(kind.example)
      expect(kind.columns.length).toBeGreaterThan(2)
    }
  })
})
