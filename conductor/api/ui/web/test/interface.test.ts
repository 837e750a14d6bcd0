import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import { ways } from '../src/lib/begin'
import { docs, helpOf } from '../src/lib/docs'
import { bodyOf, common } from '../src/lib/enroll'
import { grouped, lines, shares, tops, usualSize } from '../src/lib/group'
import { merge, ofBoot, ofCall, ofEvent, ofHistory, ofStages, share } from '../src/lib/timeline'
import { adviceParts, advised, all, primary, refused } from '../src/lib/verbs'
import { inLabels } from '../src/lib/words'
import type { Event, Status } from '../src/api/types'
import { machine } from './lib.test'

describe('help', () => {
  it.each(Object.entries(docs))('the page of “%s” is there: %s', (_, file) => expect(existsSync(new URL(`../../../../../docs/${file}`, import.meta.url))).toBe(true))
  it('is that of a part before that of the page, and never none', () => {
    expect(helpOf('machines', 'console')).toBe('/ui/docs/operate/console.html')
    expect(helpOf('machines', '')).toBe('/ui/docs/operate/deploy.html')
    expect(helpOf('nothing', '')).toBe('/ui/docs/')
  })
  it('there is for each page of the interface', async () => {
    for (const name of ['window', 'document']) vi.stubGlobal(name, { addEventListener: () => undefined })
    vi.stubGlobal('location', { pathname: '/ui/', search: '' })
    const { pages, pageOf } = await import('../src/pages')
    expect(Object.keys(pages).filter((page) => !(page in docs))).toEqual([])
    const there = (page: string, ...rest: string[]) => pageOf({ page, rest }) !== undefined
    expect([there(''), there('machines', 'm1'), there('hosts'), there('hosts', 'default', 'h1'), there('images')]).toEqual([true, true, true, true, true])
    expect([there('machines'), there('machines', 'm1', 'disks'), there('hosts', 'default'), there('images', 'x'), there('toString')]).toEqual([false, false, false, false, false])
    vi.unstubAllGlobals()
  })
})

describe('ways to begin', () => {
  it('are three, and each has a command; only the conductor’s host has no need of its address', () => {
    const found = ways('https://conductor:6385', '')
    expect(found.map((w) => w.command.startsWith('export FERRITE_URL=https://conductor:6385\n'))).toEqual([true, true, false])
    expect(ways('http://conductor:6385', '').map((w) => /FERRITE_(USER|PASSWORD|CACERT)/.test(w.command))).toEqual([false, false, false])
  })
  it('log the user in, and know the authority of https', () => {
    const cwd = mkdtempSync(`${tmpdir()}/ways`)
    for (const { command } of ways('https://conductor:6385', "o'neil").slice(0, 2)) {
      const run = execFileSync('bash', ['--norc', '-ec', `read() { eval "\${@: -1}=asked"; }; ferrite() { echo "$*"; env | grep ^FERRITE | sort; }\n${command}`], { cwd, encoding: 'utf8', env: { PATH: process.env['PATH'] } })
      expect(run).toMatch(/^(node create .*|host apply -f machines.csv)\n(FERRITE_CACERT=.*\n)?FERRITE_PASSWORD=asked\nFERRITE_URL=https:\/\/conductor:6385\nFERRITE_USER=o'neil\n$/)
      expect(command).toContain('export FERRITE_CACERT=')
    }
    rmSync(cwd, { recursive: true })
  })
})

describe('the form to enroll', () => {
  it('has what is required first, and sends what was typed', () => {
    for (const settings of Object.values(common)) expect(settings.findIndex((s) => s.required)).toBe(0)
    const form = new FormData()
    for (const [key, value] of [['info/redfish_address', ' 10.0.0.1 '], ['info/redfish_password', ''], ['name', 'm1'], ['inspect_interface', 'agent'], ['mac', 'x']]) form.set(key!, value!)
    expect(bodyOf(form, 'redfish', ['redfish_address', 'redfish_password'], ['inspect_interface', 'raid_interface'], false)).toEqual({
      driver: 'redfish', driver_info: { redfish_address: '10.0.0.1' }, name: 'm1', inspect_interface: 'agent',
    })
    const inspects = (inspect: string, mac: string, has: boolean) => {
      form.set('inspect_interface', inspect)
      form.set('mac', mac)
      return bodyOf(form, 'redfish', [], ['inspect_interface'], has)['inspect_interface']
    }
    expect([inspects('', 'x', true), inspects('redfish', 'x', true), inspects('', '', true), inspects('', 'x', false)]).toEqual(['agent', 'redfish', undefined, undefined])
  })
})

describe('texts of the conductor', () => {
  it.each([
    ['correct the cause in last_error, then', 'correct the cause in the last error, then'],
    ['set instance_info/image_checksum, or', 'set “Checksum”, or'],
    ['check redfish_address, its port', 'check “Address of the BMC”, its port'],
    ['last_errors of a/last_error/b', 'last_errors of a/last_error/b'],
  ])('%s', (text, want) => expect(inLabels(text)).toBe(want))
})

describe('the next step', () => {
  it.each([
    ['ferrite node logs m1; correct the cause, then: ferrite node deploy m1, or undeploy', '[read its log]; correct the cause, then: “Deploy”, or undeploy'],
    ['nothing, it continues by itself; to watch: ferrite node logs m.1 -f; to give up: ferrite node abort m.1', 'nothing, it continues by itself; to watch: [read its log]; to give up: “Abort”'],
    ['ferrite node deploy m1 --image URL --checksum SUM', '“Deploy”'],
    ['ssh rescue@10.0.0.4; to end it: ferrite node unrescue m1', 'ssh rescue@10.0.0.4; to end it: “Unrescue”'],
    ['correct last_error, then: ferrite node strange m1; then: ferrite node maintenance unset m1', 'correct the last error, then: ferrite node strange m1; then: “End maintenance”'],
  ])('in the words of the interface: %s', (text, want) => expect(adviceParts(text).map((p) => (p.log ? `[${p.text}]` : p.text)).join('')).toBe(want))
  const offered = (state: string) => all.filter((v) => refused(v, machine({ state, power: 'power on' })) === '')
  it.each([
    ['inspect failed', 'correct the cause in last_error, then ask for: manage or inspect', ['manage', 'inspect']],
    ['deploy failed', 'ferrite node logs m1; correct the cause, then: ferrite node deploy m1, or undeploy', ['deploy', 'delete']],
    ['manageable', 'ferrite node provide m1; before that, if wanted: ferrite node inspect m1', ['provide', 'inspect']],
    ['clean wait', 'nothing, it continues by itself; to give up: ferrite node abort m1', []],
    ['rescue', 'ssh rescue@10.0.0.4; to end it: ferrite node unrescue m1', ['unrescue']],
    ['active', 'correct the cause of the last error, then: ferrite node power off m1', ['power off']],
    ['deploying', 'nothing: the conductor is at work; last_error will say so if it fails', []],
    ['clean wait', 'look at the boot stages and the machine’s log or console; to give up: abort', ['abort']],
  ])('%s: %s', (state, text, want) => expect(advised(text, offered(state)).map((v) => v.id)).toEqual(want))
  it('is one primary button at most', () => {
    const first = (state: string, text = '') => primary(machine({ state }), advised(text, offered(state)), offered(state))?.id
    expect([first('deploy failed', 'then: deploy or undeploy'), first('deploy failed'), first('available'), first('enroll'), first('active')]).toEqual(['deploy', undefined, 'deploy', 'manage', undefined])
  })
})

describe('groups of tiles', () => {
  const rows = [machine({ name: 'rack4-7', class: 'gpu' }), machine({ name: 'rack4-10', state: 'deploy failed' }), machine({ name: 'rack12-1' }), machine({ name: '' })]
  const names = (by: string) => grouped(rows, by).map((g) => `${g.name} ${g.rows.length}`)
  it('go by class, state or rack', () => {
    expect(names('class')).toEqual(['gpu 1', 'no class 3'])
    expect(names('state')).toEqual(['available 3', 'deploy failed 1'])
    expect(names('rack')).toEqual(['no name 1', 'rack4 2', 'rack12 1'])
    expect([names(''), grouped([], '')]).toEqual([[' 4'], []])
    expect(shares(rows)).toEqual([{ kind: 'failed', label: 'Failed', count: 1 }, { kind: 'available', label: 'Available', count: 3 }])
  })
  it('are lines of a grid, each with its place', () => {
    const found = lines(grouped(rows, 'class'), 2)
    expect(found.map((l) => [l.rows?.length ?? 0, l.first])).toEqual([[0, 0], [1, 0], [0, 1], [2, 1], [1, 3]])
    expect(tops(found, 40, 50)).toEqual([0, 40, 90, 130, 180, 230])
  })
  it('are smaller the more there are', () => expect([3, 50, 410, 10_000].map(usualSize)).toEqual([3, 2, 1, 0]))
})

describe('the time line', () => {
  const at = (s: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, s)).toISOString()
  const node = { uuid: 'u1', name: 'm1', maintenance: false, provision_state: 'active' }
  it('has a change of state once, with its duration and its user', () => {
    const events: Event[] = [
      { type: 'node.state', at: at(1), cursor: '1', node, moves: [{ from: 'available', on: 'deploy', to: 'deploying' }], notes: [{ severity: 'INFO', text: 'deploy started' }] },
      { type: 'node.state', at: at(30), cursor: '2', node, moves: [{ from: 'deploying', on: 'done', to: 'active' }] },
    ]
    const history = [
      { uuid: 'h1', created_at: at(1), severity: 'INFO', event: 'deploy started', event_type: 'deploy', user: 'ada' },
      { uuid: 'h2', created_at: at(30), severity: 'INFO', event: 'deploy done in 29s', event_type: 'deploy', duration_seconds: 29 },
      { uuid: 'h3', created_at: at(50), severity: 'INFO', event: 'clean done in 9s', event_type: 'clean', duration_seconds: 9 },
    ].map(ofHistory)
    expect(merge(events.flatMap(ofEvent), history).map((e) => [e.text, e.seconds, e.by])).toEqual([['clean done in 9s', 9, ''], ['deploying → active', 29, ''], ['available → deploying', undefined, 'ada']])
  })
  it('has a boot stage and its exchange once, and names the running system', () => {
    const line = (id: number, s: number, asked: string, service = 'dhcp') => ofBoot({ event: { id, at: at(s), service, asked, message: '', times: 1, answer: 'ACK' } })
    const status = { boot_stages: [{ at: at(2), name: 'dhcp ack' }, { at: at(40), name: 'kernel' }] } as Status
    expect(merge(line(1, 2, 'REQUEST UEFI x64'), line(2, 60, 'DISCOVER OS'), line(3, 3, 'TFTP snponly.efi', 'tftp'), ofStages(status)).map((e) => e.text)).toEqual([
      'DHCP DISCOVER of the running system', 'kernel', 'TFTP snponly.efi', 'DHCP REQUEST UEFI x64',
    ])
  })
  it('has bars whose roots are compared', () => {
    expect([share(100, 100), share(25, 100), share(0, 100), share(1, 0)]).toEqual([100, 50, 1, 0])
    expect(ofCall({ id: 1, at: at(0), protocol: 'redfish', name: 'GET /', seconds: 0.25, status: 200 } as Parameters<typeof ofCall>[0]).seconds).toBe(0.25)
  })
})
