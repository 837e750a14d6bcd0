import { describe, expect, it } from 'vitest'
import { apply, fromNode } from '../src/api/row'
import { merge, ofEvent, ofHistory, ofLog } from '../src/lib/timeline'
import type { Event } from '../src/api/types'

const at = '2026-03-01T10:00:00Z'
const node = { uuid: 'u1', name: 'm1', maintenance: false, provision_state: 'deploying' }

describe('the time line', () => {
  it('has a line for each part of an event', () => {
    const event: Event = {
      type: 'node.state', at, cursor: '7', user: 'ada', project: 'blue', node,
      moves: [{ from: 'available', on: 'deploy', to: 'deploying' }, { from: 'deploying', on: 'fail', to: 'deploy failed' }],
      notes: [{ severity: 'ERROR', text: 'no disk' }],
    }
    expect(ofEvent(event, 0).map((e) => [e.group, e.text, e.by])).toEqual([
      ['state', 'available → deploying', 'ada (blue)'],
      ['error', 'deploying → deploy failed', 'ada (blue)'],
      ['error', 'no disk', 'ada (blue)'],
    ])
  })

  it('shows what history and events both have once', () => {
    const event: Event = { type: 'node.updated', at, cursor: '7', node, notes: [{ severity: 'ERROR', text: 'no disk' }] }
    const history = ofHistory({ uuid: 'h1', created_at: '2026-03-01T10:00:00.4Z', severity: 'ERROR', event: 'no disk' })
    expect(merge(ofEvent(event, 0), [history])).toHaveLength(1)
  })

  it('is in order, the newest first, and reads logs', () => {
    const lines = ofLog('2026-03-01T10:00:01Z second\n  more\n2026-03-01T09:00:00Z first\nnoise')
    expect(merge(lines).map((e) => e.text)).toEqual(['second\n  more', 'first\nnoise'])
  })
})

describe('a row after events', () => {
  const row = fromNode({ uuid: 'u1', name: 'm1', provision_state: 'available', owner: 'blue', health: 'ok', provision_updated_at: at })
  it('keeps what events do not tell', () => {
    const next = apply(row, { type: 'node.state', at, cursor: '1', node, moves: [{ from: 'available', on: 'deploy', to: 'deploying' }] })
    expect(next).toMatchObject({ state: 'deploying', owner: 'blue', health: 'ok' })
    expect(next!.texts).toContain('deploying')
  })
  it('takes progress, and drops it in the next state', () => {
    const busy = apply(row, { type: 'step.progress', at, node, progress: { step: 's', stage: '', done: 1, total: 2 } })
    expect(busy!.progress).toMatchObject({ done: 1, total: 2 })
    const next = apply(busy!, { type: 'node.state', at, cursor: '2', node, moves: [{ from: 'a', on: 'b', to: 'c' }] })
    expect(next!.progress).toBeNull()
  })
  it('makes no machine of something that passes', () => {
    expect(apply(undefined, { type: 'boot.stage', at, node, stage: { name: 'kernel' } })).toBeNull()
  })
})
