// Logins: roles, an end in the middle of a form, log out.
import { strict as assert } from 'node:assert'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessible, fits, login, quiet, settled, shot } from '../lib/checks.mjs'
import { Conductor, program } from '../lib/conductor.mjs'
import { available } from '../lib/scene.mjs'

export async function sessions({ tally, browser }) {
  const c = await new Conductor().withUsers().start()
  try {
    const uuid = await available(c, 'web-1')
    await available(c, 'web-2', { owner: 'blue' })

    await tally.check('the page asks for a login', async () => {
      for (const size of ['wide', 'narrow']) {
        const page = await browser.page({ size, dark: size === 'narrow' })
        tally.pages.add('login')
        await page.goto(`${c.url}/ui/`)
        await page.getByLabel('User').waitFor()
        await fits(page)
        await accessible(page)
        await shot(page, size === 'narrow' ? 'login-narrow' : 'login')
        await page.getByLabel('User').fill('ada')
        await page.getByLabel('Password').fill('wrong')
        await page.getByRole('button', { name: 'Log in' }).click()
        await page.getByText('does not know this login').waitFor()
        quiet(page)
        await page.context().close()
      }
    })

    await tally.check('a token in a link logs in, after a click, and leaves the address', async () => {
      const page = await browser.page()
      await page.goto(`${c.url}/ui/machines/${uuid}#token=${encodeURIComponent(c.token)}`)
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByRole('heading', { level: 1, name: 'web-1' }).waitFor()
      assert.ok(!page.url().includes('token'), page.url())
      await page.getByText('olga', { exact: true }).waitFor()
      quiet(page)
      await page.context().close()
    })

    await tally.check('a one-time link logs in once, after a click, and leaves the address', async () => {
      const link = c.command('user', 'link', 'rita', '--url', c.url)
      assert.match(link, /\/ui\/#link=[\w-]{43}$/)
      const secret = link.slice(link.indexOf('=') + 1)
      for (const works of [true, false]) {
        const page = await browser.page()
        const asked = []
        page.on('request', (request) => asked.push(request.url(), request.headers()['referer'] ?? ''))
        await page.goto(link)
        await page.getByText('This link logs you in once.').waitFor()
        assert.ok(!page.url().includes(secret), page.url())
        if (works) await shot(page, 'login-link')
        await accessible(page)
        await page.getByRole('button', { name: 'Log in' }).click()
        if (works) await page.getByText('rita', { exact: true }).waitFor()
        else await page.getByText(/was used, .* ferrite user link/).waitFor()
        if (!works) await page.getByLabel('User').waitFor()
        assert.ok(!asked.some((text) => text.includes(secret)), 'a URL or a referrer has the secret')
        quiet(page)
        await page.context().close()
      }
      assert.ok(!c.log.includes(secret), 'the log has the secret')
      const forged = await fetch(`${c.url}/ferrite/v1/session`, { method: 'POST', headers: { Authorization: `Ferrite-Link ${'A'.repeat(43)}` } })
      assert.equal(forged.status, 401)
      const other = await new Conductor().withUsers().start()
      try {
        const foreign = c.command('user', 'link', 'ada', '--url', c.url).split('=')[1]
        const answer = await fetch(`${other.url}/ferrite/v1/session`, { method: 'POST', headers: { Authorization: `Ferrite-Link ${foreign}` } })
        assert.equal(answer.status, 401)
      } finally {
        await other.stop()
      }
    })

    await tally.check('an admin sees users and tokens, and how to change them; an operator does not', async () => {
      const page = await browser.page()
      await login(page, c, 'ada', '/ui/users')
      await settled(page)
      await page.getByRole('button', { name: 'Commands for olga' }).click()
      await page.getByText('link does not expire').waitFor()
      await page.getByText('ferrite user delete olga --token link').waitFor()
      await fits(page)
      await accessible(page)
      await shot(page, 'users-commands')
      const hashes = readFileSync(join(c.dir, 'users'), 'utf8').match(/[0-9a-f]{64}/g)
      const text = await page.content()
      assert.ok(hashes.length > 0 && !hashes.some((hash) => text.includes(hash)), 'the page has a hash')
      quiet(page)
      await page.context().close()
      const other = await browser.page()
      await login(other, c, 'olga')
      await settled(other)
      assert.equal(await other.getByRole('link', { name: 'Users', exact: true }).count(), 0)
      await other.context().close()
    })

    await tally.check('a reader is offered nothing to change', async () => {
      const page = await browser.page()
      await login(page, c, 'rita')
      await settled(page)
      assert.equal(await page.getByRole('region', { name: 'Several machines' }).count(), 0)
      assert.equal(await page.getByRole('link', { name: 'Enroll a machine' }).count(), 0)
      await page.goto(`${c.url}/ui/machines/${uuid}`)
      await settled(page)
      assert.equal(await page.locator('.verbs').count(), 0)
      quiet(page)
      await page.context().close()
    })

    await tally.check('a user of a project sees its machines alone', async () => {
      const page = await browser.page()
      await login(page, c, 'bela')
      await settled(page)
      await page.getByText('1 machine', { exact: true }).waitFor()
      quiet(page)
      await page.context().close()
    })

    await tally.check('a login that ends in the middle of a form keeps the form', async () => {
      const page = await browser.page()
      await login(page, c, 'olga', `/ui/machines/${uuid}`)
      await settled(page)
      await page.getByRole('button', { name: 'Maintenance' }).click()
      await page.getByLabel('Reason').fill('a new disk is on its way')
      newPassword(c, 'olga', 'quite another password')
      await page.getByRole('dialog').getByRole('button', { name: 'Maintenance' }).click()
      const again = page.getByRole('dialog', { name: 'Your login has ended' })
      await again.waitFor()
      await shot(page, 'login-again')
      assert.equal(await page.getByLabel('Reason').inputValue(), 'a new disk is on its way')
      await again.getByLabel('Password').fill('quite another password')
      await again.getByRole('button', { name: 'Log in' }).click()
      await page.getByText('In maintenance: a new disk is on its way').waitFor()
      quiet(page)
      await page.getByText('olga', { exact: true }).click()
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByLabel('User').waitFor()
      await page.context().close()
    })
  } finally {
    await c.stop()
  }
}

function newPassword(c, user, password) {
  const file = join(c.dir, 'password')
  writeFileSync(file, `${password}\n`)
  execFileSync(program, ['user', 'password', user, '--password-file', file], { env: { ...process.env, FERRITE_HTPASSWD_FILE: join(c.dir, 'htpasswd') } })
}

