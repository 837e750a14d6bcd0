// Logins: roles, an end in the middle of a form, log out.
import { strict as assert } from 'node:assert'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
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

