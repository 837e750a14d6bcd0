import { describe, expect, it } from 'vitest'
import type { Machine } from '../src/lib/classify'
import { matches, parse, valueOf, withTerm } from '../src/lib/filter'

const machine = (more: Partial<Machine> = {}): Machine => ({
  uuid: 'u1', name: 'rack4-7', state: 'deploy failed', target: 'active', power: 'power on', maintenance: false, reason: '', fault: '',
  error: 'the image cannot be read', class: 'gpu', driver: 'redfish', group: '', owner: 'blue', health: '', retired: false, since: 1,
  step: '', progress: null, stage: '', ...more,
})

describe('the filter', () => {
  const cases: [string, boolean][] = [
    ['', true],
    ['rack4', true],
    ['RACK4 redfish', true],
    ['rack5', false],
    ['state:failed', true],
    ['state:"deploy failed"', true],
    ['state:"wait', false],
    ['-state:failed', false],
    ['kind:failed', true],
    ['kind:fail', false],
    ['class:gpu owner:blue', true],
    ['class:gpu owner:red', false],
    ['maintenance:no', true],
    ['maintenance:yes', false],
    ['attention:yes', true],
    ['error:"cannot be read"', true],
    ['"image cannot"', true],
    ['unknown:key', false],
  ]
  it.each(cases)('%s', (text, want) => {
    expect(matches(machine(), parse(text))).toBe(want)
  })

  it('takes a name with a colon as text', () => {
    expect(matches(machine({ name: 'a:b' }), parse('a:b'))).toBe(true)
  })

  it('knows deploy wait by its plain name', () => {
    expect(matches(machine({ state: 'wait call-back' }), parse('state:"deploy wait"'))).toBe(true)
  })

  it('replaces a key', () => {
    expect(withTerm('rack4 kind:failed', 'kind', 'active')).toBe('rack4 kind:active')
    expect(withTerm('kind:failed rack4', 'kind', '')).toBe('rack4')
    expect(withTerm('', 'state', 'deploy failed')).toBe('state:"deploy failed"')
    expect(valueOf('rack4 state:"deploy failed"', 'state')).toBe('deploy failed')
  })
})
