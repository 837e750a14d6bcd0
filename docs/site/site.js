// Theme, menu of a small screen, versions, copying of commands, and the search. Pages are read without it as well.
'use strict'

const page = document.documentElement
const root = page.dataset.root

/** kept reads and writes a setting of the reader. A browser may refuse both for files. */
const kept = {
  get(key) { try { return localStorage.getItem(key) } catch { return null } },
  set(key, value) { try { localStorage.setItem(key, value) } catch { /* for this page alone */ } },
}
const theme = kept.get('docs-theme')
if (theme) page.dataset.theme = theme

/** element makes an element with attributes, and texts or elements in it. */
function element(name, attributes, ...inside) {
  const made = Object.assign(document.createElement(name), attributes)
  made.append(...inside)
  return made
}

document.addEventListener('DOMContentLoaded', () => {
  document.getElementById('theme').onclick = () => {
    const dark = page.dataset.theme ? page.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
    kept.set('docs-theme', (page.dataset.theme = dark ? 'light' : 'dark'))
  }
  const menu = document.getElementById('menu')
  const open = document.getElementById('open')
  open.onclick = () => open.setAttribute('aria-expanded', menu.classList.toggle('shown'))
  const here = menu.querySelector('[aria-current]')
  if (here) menu.scrollTop = here.offsetTop - menu.clientHeight / 2

  for (const block of document.querySelectorAll('pre')) {
    const copy = element('button', { type: 'button', textContent: 'Copy' })
    copy.onclick = () => navigator.clipboard?.writeText(block.querySelector('code').textContent)
      .then(() => { copy.textContent = 'Copied' }, () => { copy.textContent = 'Press Ctrl+C' })
    block.append(copy)
  }
  versions()
  outline()
  neighbours([...menu.querySelectorAll('a')])
  search(document.getElementById('search'), document.getElementById('found'))
  reveal()
})
addEventListener('hashchange', reveal)

/** reveal opens the route of the API that the address names. */
function reveal() {
  const route = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (route?.tagName === 'DETAILS') route.open = true
}

/** versions makes the version a choice, where versions.js lists several. */
function versions() {
  const all = window.siteVersions ?? []
  const mine = document.getElementById('version')
  if (all.length < 2) return
  const choice = element('select', { ariaLabel: 'Version' },
    ...all.map((v) => element('option', { value: v, selected: v === mine.textContent }, v)))
  choice.onchange = () => { location.href = `${root}../${choice.value}/index.html` }
  mine.replaceChildren(choice)
}

/** outline gives headings a link to themselves, and lists those of the second level beside the page. */
function outline() {
  for (const h of document.querySelectorAll('article :is(h2, h3)[id]')) {
    h.append(element('a', { className: 'anchor', href: `#${h.id}`, title: 'Link to this section' }, '#'))
  }
  const heads = [...document.querySelectorAll('article h2[id]')]
  if (heads.length < 2) return
  document.querySelector('aside').append(element('b', {}, 'On this page'), element('ul', {},
    ...heads.map((h) => element('li', {}, element('a', { href: `#${h.id}` }, h.firstChild.textContent)))))
}

/** neighbours links the pages before and after this one in the menu. */
function neighbours(links) {
  const at = links.findIndex((a) => a.ariaCurrent)
  const foot = document.querySelector('footer')
  for (const [rel, link] of [['prev', links[at - 1]], ['next', at < 0 ? links[0] : links[at + 1]]]) {
    if (link) foot.append(element('a', { rel, href: link.href }, link.textContent))
  }
}

/** load loads the index once. A page that requires trusted types takes the address of a script from a policy alone. */
let loading
function load() {
  loading ??= new Promise((done) => {
    const policy = window.trustedTypes?.createPolicy('docs', { createScriptURL: (url) => url })
    const url = root + 'search.js'
    document.head.append(element('script', { src: policy?.createScriptURL(url) ?? url, onload: done }))
  })
  return loading
}

/** search shows the sections with all words of a field, the best first. */
function search(field, list) {
  field.onfocus = load
  field.oninput = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    list.hidden = words.length === 0
    if (list.hidden) return
    await load()
    const found = window.siteSections.map((s) => [rank(s, words), s]).filter(([points]) => points > 0)
      .sort(([a], [b]) => b - a).slice(0, 20).map(([, s]) => result(s, words))
    list.replaceChildren(...(found.length > 0 ? found : [element('li', {}, 'No section has these words.')]))
  }
  addEventListener('keydown', (e) => {
    const at = [field, ...list.querySelectorAll('a')]
    const to = at.indexOf(document.activeElement) + { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (e.key === '/' && !/^(INPUT|SELECT)$/.test(document.activeElement.tagName)) field.focus()
    else if (e.key === 'Escape') list.hidden = true
    else if (e.key === 'Enter' && document.activeElement === field) at[1]?.click()
    else if (!list.hidden && at.includes(document.activeElement) && at[to]) at[to].focus()
    else return
    e.preventDefault()
  })
  addEventListener('click', (e) => { if (!e.target.closest('search')) list.hidden = true })
}

/** rank counts the words of a section: in its heading most, then in the title of its page. Words side by side count
 * more. Pages for developers come last. */
function rank([name, title, heading, , text], words) {
  let points = 0
  for (const word of words) {
    const at = [heading, title, text].map((where) => where.toLowerCase().indexOf(word))
    if (at.every((i) => i < 0)) return 0
    points += (at[0] >= 0 ? 20 : 0) + (at[0] === 0 ? 10 : 0) + (at[1] >= 0 ? 10 : 0) + (at[2] >= 0 ? 1 : 0)
  }
  if (words.length > 1 && text.toLowerCase().includes(words.join(' '))) points += 15
  points += (title === heading ? 5 : 0) + (/^(troubleshooting|first-server)\b/.test(name) ? 10 : 0)
  return /^(decisions|design|dev|benchmarks)\b/.test(name) ? points / 100 : points
}

/** result is a section in the list, with the text around the first word. */
function result([name, title, heading, id, text], words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60)
  const around = (at > 0 ? '…' : '') + text.slice(at, at + 180)
  const link = element('a', { href: root + name + (id && `#${id}`) },
    element('b', {}, title === heading ? title : `${title}: ${heading}`), element('small', {}, ...marked(around, words)))
  link.onclick = () => { document.getElementById('found').hidden = true }
  return element('li', {}, link)
}

/** marked is a text with its words marked. */
function marked(text, words) {
  const escaped = words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return text.split(new RegExp(`(${escaped.join('|')})`, 'i')).map((part, i) => i % 2 ? element('mark', {}, part) : part)
}
