// Every page, in both widths and both themes: axe, no page wider than its window, no error, a picture.
import { accessible, fits, quiet, settled, shot } from '../lib/checks.mjs'

/** list is the pages, with an address made of the machines of the scene. */
export const list = [
  { name: 'machines-grid', path: () => '/ui/' },
  { name: 'machines-list', path: () => '/ui/?view=list' },
  { name: 'machines-progress', path: () => '/ui/?view=progress' },
  { name: 'machines-attention', path: () => '/ui/?view=attention' },
  { name: 'machine-now', path: (ids) => `/ui/machines/${ids.waiting}` },
  { name: 'machine-failed', path: (ids) => `/ui/machines/${ids.failed}` },
  { name: 'machine-timeline', path: (ids) => `/ui/machines/${ids.active}?tab=timeline` },
  { name: 'machine-log', path: (ids) => `/ui/machines/${ids.waiting}?tab=log` },
  { name: 'machine-console', path: (ids) => `/ui/machines/${ids.active}?tab=console` },
  { name: 'machine-disks', path: (ids) => `/ui/machines/${ids.inspected}?tab=disks` },
  { name: 'machine-network', path: (ids) => `/ui/machines/${ids.inspected}?tab=network` },
  { name: 'machine-firmware', path: (ids) => `/ui/machines/${ids.active}?tab=firmware` },
  { name: 'machine-bios', path: (ids) => `/ui/machines/${ids.active}?tab=bios` },
  { name: 'machine-sensors', path: (ids) => `/ui/machines/${ids.active}?tab=sensors` },
  { name: 'machine-reports', path: (ids) => `/ui/machines/${ids.active}?tab=reports` },
  { name: 'machine-fields', path: (ids) => `/ui/machines/${ids.inspected}?tab=fields` },
  { name: 'discovered', path: () => '/ui/discovered' },
  { name: 'hosts', path: () => '/ui/hosts' },
  { name: 'host', path: () => '/ui/hosts/default/worker-0' },
  { name: 'images', path: () => '/ui/images' },
  { name: 'allocations', path: () => '/ui/allocations' },
  { name: 'runbooks', path: () => '/ui/runbooks' },
  { name: 'templates', path: () => '/ui/templates' },
  { name: 'inspection-rules', path: () => '/ui/inspection-rules' },
  { name: 'leases', path: () => '/ui/leases' },
  { name: 'erase-reports', path: () => '/ui/erase-reports' },
  { name: 'conductors', path: () => '/ui/conductors' },
  { name: 'users', path: () => '/ui/users' },
  { name: 'audit', path: () => '/ui/audit' },
  { name: 'enroll', path: () => '/ui/enroll' },
]

const some = process.env.PAGES?.split(",")

export async function pages({ tally, browser, c, ids }) {
  for (const size of ['wide', 'narrow']) {
    for (const dark of [false, true]) {
      const page = await browser.page({ size, dark })
      await page.goto(`${c.url}/ui/`)
      for (const { name, path } of list.filter((p) => !some || some.includes(p.name))) {
        tally.pages.add(name)
        await tally.check(`${name} ${size} ${dark ? 'dark' : 'light'}`, async () => {
          page.wrong.length = 0
          await page.goto(c.url + path(ids))
          await settled(page)
          await fits(page)
          await accessible(page)
          quiet(page)
          if (dark === (size === 'narrow')) await shot(page, size === 'narrow' ? `${name}-narrow` : name)
        })
      }
      await page.context().close()
    }
  }
}
