// A conductor of its own for a check: a data folder that is removed, users, and a client of its API.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** program is the conductor that is tried. */
export const program = new URL('../../../../../../bin/ferrite', import.meta.url).pathname

/** Conductor is `ferrite serve` in a folder of its own. */
export class Conductor {
  constructor() {
    this.dir = mkdtempSync(join(tmpdir(), 'ferrite-ui-'))
    this.port = ''
    this.log = ''
    this.user = ''
  }

  /** command runs `ferrite` on the files of the conductor's users. */
  command(...args) {
    const env = { ...process.env, FERRITE_USERS_FILE: join(this.dir, 'users'), FERRITE_HTPASSWD_FILE: join(this.dir, 'htpasswd') }
    return execFileSync(program, args, { env, encoding: 'utf8' }).trim()
  }

  /** withUsers makes ada (admin), olga (operator), rita (reader) and bela (an operator of the project blue). */
  withUsers() {
    this.users = { ada: 'admin', olga: 'operator', rita: 'reader', bela: 'operator' }
    for (const [name, role] of Object.entries(this.users)) {
      const project = name === 'bela' ? ['--project', 'blue'] : []
      this.command('user', 'set', name, '--role', role, ...project)
      const password = join(this.dir, 'password')
      writeFileSync(password, `${passwordOf(name)}\n`)
      this.command('user', 'password', name, '--password-file', password)
    }
    this.token = this.command('user', 'token', 'olga', '--label', 'link')
    this.user = 'ada'
    return this
  }

  /** start starts it; a second start has the address and the data of the first. */
  async start(...more) {
    const auth = this.users
      ? ['--auth', 'basic,token', '--users-file', join(this.dir, 'users'), '--htpasswd-file', join(this.dir, 'htpasswd')]
      : ['--auth', 'none']
    const args = ['serve', '--data-dir', join(this.dir, 'data'), '--api-address', `127.0.0.1:${this.port || 0}`, '--host', 'conductor-1',
      '--hardware-types', 'fake-hardware,redfish,ipmi,manual-management', '--agent-allow', '127.0.0.0/8', '--bmc-allow', '127.0.0.0/8', ...auth, ...more]
    this.process = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.ended = new Promise((resolve) => this.process.once('exit', resolve))
    await new Promise((resolve, reject) => {
      const wait = setTimeout(() => reject(new Error(`the conductor is not ready:\n${this.log}`)), 30_000)
      this.process.stderr.on('data', (piece) => {
        this.log = (this.log + piece).slice(-200_000)
        const found = /msg=ready api=http:\/\/127\.0\.0\.1:(\d+)/.exec(this.log)
        if (!found) return
        this.port = found[1]
        clearTimeout(wait)
        resolve()
      })
      this.process.once('exit', (code) => reject(new Error(`the conductor ended with ${code}:\n${this.log}`)))
    })
    this.url = `http://127.0.0.1:${this.port}`
    return this
  }

  /** kill ends it without a farewell. */
  async kill() {
    this.log = ''
    this.process.kill('SIGKILL')
    await this.ended
  }

  async stop() {
    if (this.process && this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGTERM')
      const late = setTimeout(() => this.process.kill('SIGKILL'), 10_000)
      await this.ended
      clearTimeout(late)
    }
    rmSync(this.dir, { recursive: true, force: true })
  }

  /** call makes a request, and fails unless it is answered with success. */
  async call(method, path, body) {
    const headers = { 'X-OpenStack-Ironic-API-Version': 'latest', 'Content-Type': 'application/json' }
    if (this.user) headers.Authorization = `Basic ${Buffer.from(`${this.user}:${passwordOf(this.user)}`).toString('base64')}`
    const answer = await fetch(this.url + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  /** until waits for a node's state. */
  async until(node, state) {
    for (let i = 0; i < 1200; i++) {
      const n = await this.call('GET', `/v1/nodes/${node}`)
      if (n.provision_state === state && n.reservation === null) return n
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`${node} is not ${state}: ${JSON.stringify(await this.call('GET', `/ferrite/v1/nodes/${node}/status`))}`)
  }

  async verb(node, target, more = {}) {
    await this.call('PUT', `/v1/nodes/${node}/states/provision`, { target, ...more })
  }
}

export const passwordOf = (user) => `a long password of ${user}`
