// Shared by all checks: a count, and words for what went wrong.
import { strict as assert } from 'node:assert'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { passwordOf } from './conductor.mjs'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Tally counts checks, and keeps failures. */
export class Tally {
  checks = 0
  pages = new Set()
  failures = []
  figures = {}

  /** check counts one, and notes why it failed. */
  async check(name, act) {
    this.checks++
    const began = Date.now()
    try {
      await act()
      if (process.env.VERBOSE) console.log(`  ok ${name} ${Date.now() - began} ms`)
    } catch (err) {
      this.failures.push(`${name}: ${err.stack ?? err}`)
      console.log(`  FAILED ${name}: ${String(err.message ?? err).slice(0, 1500)}`)
    }
  }
}

/** accessible fails with what axe finds. */
export async function accessible(page) {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const result = await window.axe.run(document, { resultTypes: ['violations'] })
    return result.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`)
  })
  assert.deepEqual(found, [])
}

/** fits fails if a page is wider than its window. */
export async function fits(page) {
  const [needs, has] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth])
  assert.ok(needs <= has, `the page needs ${needs} pixels of ${has}`)
}

/** quiet fails if a script failed, or the policy refused something. */
export const quiet = (page) => assert.deepEqual(page.wrong, [])

export async function shot(page, name) {
  if (!process.env.SHOTS) return
  mkdirSync(process.env.SHOTS, { recursive: true })
  await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) })
}

/** login logs a user in, on the page that asks for it. */
export async function login(page, c, user, path = '/ui/') {
  await page.goto(c.url + path)
  await page.getByLabel('User').fill(user)
  await page.getByLabel('Password').fill(passwordOf(user))
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor()
}

/** settled waits until a page has read what it shows. */
export async function settled(page) {
  await page.locator('main h1').first().waitFor()
  await page.waitForLoadState('domcontentloaded')
  await page.waitForFunction(() => !/Reading …|Loading …|, reading/.test(document.body.innerText))
  await page.waitForTimeout(120)
}
