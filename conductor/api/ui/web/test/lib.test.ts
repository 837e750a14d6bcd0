import { describe, expect, it } from 'vitest'
import { faultText } from '../src/api/fault'
import { attention, besideState, kindOf, type Machine } from '../src/lib/classify'
import { checksumError, imageChanges } from '../src/lib/deploy'
import { asText, bytes, duration, visible } from '../src/lib/format'
import { natural, needing, sorted, underWay } from '../src/lib/order'
import { differences } from '../src/lib/patch'
import { address, parseRoute } from '../src/lib/route'
import { Decoder } from '../src/lib/sse'
import { parseSteps } from '../src/lib/steps'
import { plan, refused, verb } from '../src/lib/verbs'
import { verbs } from '../src/api/states'

export const machine = (more: Partial<Machine> = {}): Machine => ({
  uuid: 'u1', name: 'm1', state: 'available', target: '', power: 'power off', maintenance: false, reason: '', fault: '', error: '', class: '',
  driver: '', group: '', owner: '', health: '', retired: false, since: 1, step: '', progress: null, stage: '', ...more,
})

describe('format', () => {
  it.each([[0, '0 B'], [999, '999 B'], [1500, '1.5 kB'], [734003200, '734 MB'], [16e12, '16 TB'], [-1, '?']])('bytes %d', (n, want) => expect(bytes(n)).toBe(want))
  it.each([[0, '0 s'], [65, '1 min 5 s'], [3600, '1 h'], [7890, '2 h 11 min'], [90000, '1 d 1 h'], [NaN, '?']])('duration %d', (n, want) => expect(duration(n)).toBe(want))
  it('shows what would be hidden', () => {
    expect(visible('a\u202eb\u0007\n')).toBe('a\\u202eb\\u0007\n')
    expect(asText({ a: '\u202e' })).toContain('\\u202e')
  })
})

describe('states', () => {
  it('has a kind for each state of the table', () => {
    expect(Object.keys(verbs).length).toBeGreaterThan(25)
    const kinds = new Set(Object.keys(verbs).map(kindOf))
    expect(kinds.size).toBe(9)
    expect(kindOf('wait call-back')).toBe('waiting')
    expect(kindOf('deploy hold')).toBe('hold')
    expect(kindOf('unrescuing')).toBe('working')
  })
  it('has a button for each verb of the table', () => {
    for (const rows of Object.values(verbs)) for (const row of rows) expect(verb(row.verb), row.verb).toBeDefined()
  })
  it.each<[Partial<Machine>, string]>([
    [{}, ''],
    [{ state: 'clean failed', error: 'disk' }, 'disk'],
    [{ maintenance: true, reason: 'fan' }, 'in maintenance: fan'],
    [{ maintenance: true, fault: 'power failure', reason: 'x' }, 'power failure: x'],
    [{ state: 'deploy hold' }, 'a step requested a pause'],
    [{ state: 'enroll', error: 'no BMC' }, 'no BMC'],
    [{ state: 'clean wait', since: 1, error: 'old' }, 'it has been waiting for more than 30 minutes'],
  ])('%j needs', (more, want) => expect(attention(machine(more), 1e10)).toBe(want))
  it.each([
    ['deploy failed at step deploy.write_image: no disk', 'deploy failed', 'deploy.write_image: no disk'],
    ['clean failed at step deploy.erase_devices: timed out', 'manageable', 'clean failed at step deploy.erase_devices: timed out'],
    ['in maintenance', 'active', 'in maintenance'],
  ])('%s, beside %s', (reason, state, want) => expect(besideState(reason, state)).toBe(want))
})

describe('order', () => {
  const rows = [machine({ name: 'n10' }), machine({ name: 'n2' }), machine({ name: 'N1', state: 'clean failed' })]
  it('orders numbers as people do', () => {
    expect(sorted(rows, 'name').map((r) => r.name)).toEqual(['N1', 'n2', 'n10'])
    expect(sorted(rows, '-name').map((r) => r.name)).toEqual(['n10', 'n2', 'N1'])
    expect(sorted(rows, 'state')[0]!.name).toBe('N1')
    expect(natural('a', 'a')).toBe(0)
  })
  it('puts the longest first, and failures first', () => {
    const busy = [machine({ name: 'a', state: 'cleaning', since: 9 }), machine({ name: 'b', state: 'clean wait', since: 3 }), machine()]
    expect(underWay(busy).map((r) => r.name)).toEqual(['b', 'a'])
    expect(needing([machine({ name: 'm', maintenance: true }), machine({ name: 'f', state: 'error' })], 10).map((r) => r.name)).toEqual(['f', 'm'])
  })
})

describe('verbs', () => {
  it('leaves out machines in other states', () => {
    const made = plan(verb('deploy')!, [machine({ name: 'a' }), machine({ name: 'b', state: 'active' }), machine({ name: 'c' })], (m) => m.name !== 'c')
    expect(made.asked.map((m) => m.name)).toEqual(['a'])
    expect([...made.left.keys()]).toEqual(['not in the state active', 'your role does not allow it'])
  })
  it('knows power', () => {
    expect(refused(verb('power on')!, machine({ power: 'power on' }))).not.toBe('')
    expect(refused(verb('power off')!, machine({ power: 'power on' }))).toBe('')
  })
})

describe('deploy', () => {
  it.each([['', ''], ['abc', 'Expected'], ['sha256:' + 'a'.repeat(64), ''], ['sha512:' + 'a'.repeat(64), 'A sum'], ['https://x/SHA256SUMS', '']])('checksum %s', (text, want) => {
    expect(checksumError(text).startsWith(want)).toBe(true)
    if (want === '') expect(checksumError(text)).toBe('')
  })
  it('takes the old checksum away', () => {
    const changes = imageChanges({ url: 'http://a/b', checksum: 'a'.repeat(64), format: 'raw' })
    expect(changes).toContainEqual({ op: 'add', path: '/instance_info/image_os_hash_algo', value: 'sha256' })
    expect(changes).toContainEqual({ op: 'remove', path: '/instance_info/image_checksum' })
    expect(imageChanges({ url: 'debian-12', checksum: '', format: '' })[0]).toMatchObject({ value: 'image:debian-12' })
    expect(imageChanges({ url: '', checksum: 'a', format: '' })).toEqual([])
  })
})

describe('steps', () => {
  it('reads lines', () => {
    const read = parseSteps('deploy.erase_devices\n# no\nbios.apply_configuration settings=[{"name": "A", "value": "B c"}] x=1 y=z')
    expect(read.error).toBe('')
    expect(read.steps).toEqual([
      { interface: 'deploy', step: 'erase_devices' },
      { interface: 'bios', step: 'apply_configuration', args: { settings: [{ name: 'A', value: 'B c' }], x: 1, y: 'z' } },
    ])
  })
  it.each([['', 'Type'], ['erase', 'Line 1'], ['a.b\nc.d e', 'Line 2'], ['[{', 'The JSON']])('refuses %s', (text, want) => expect(parseSteps(text).error.startsWith(want)).toBe(true))
})

describe('patch', () => {
  it('has what differs alone', () => {
    expect(differences({ a: 1, b: { c: 1, 'd/e': 2 }, l: [1] }, { a: 1, b: { c: 2, f: 3 }, l: [1] })).toEqual([
      { op: 'add', path: '/b/c', value: 2 },
      { op: 'remove', path: '/b/d~1e' },
      { op: 'add', path: '/b/f', value: 3 },
    ])
  })
})

describe('addresses', () => {
  it('go there and back', () => {
    const to = address(['machines', 'a/b c'], { tab: 'log', q: '' })
    expect(to).toBe('/ui/machines/a%2Fb%20c?tab=log')
    const [path, search] = to.split('?')
    expect(parseRoute(path!, search!)).toMatchObject({ page: 'machines', rest: ['a/b c'] })
    expect(parseRoute('/ui/%zz', '').page).toBe('%zz')
  })
})

describe('server-sent events', () => {
  it('are put together', () => {
    const d = new Decoder()
    expect(d.push(': alive\n\nid: 1\nevent: node.st')).toEqual([])
    expect(d.push('ate\ndata: {"a":\ndata: 1}\n\n: x\n\ndata: y\n\n')).toEqual([
      { id: '1', type: 'node.state', data: '{"a":\n1}' },
      { id: '', type: 'message', data: 'y' },
    ])
  })
})

describe('faults', () => {
  it.each([
    ['{"error_message":"{\\"faultstring\\":\\"no\\"}"}', 'no'],
    ['{"error_message":{"faultstring":"no"}}', 'no'],
    ['{"kind":"Status","message":"no"}', 'no'],
    ['{"error_message":"plain"}', 'plain'],
    ['<html>', '<html>'],
  ])('%s', (text, want) => expect(faultText(text)).toBe(want))
})
