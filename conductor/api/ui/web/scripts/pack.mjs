// Writes each built file into ../built as NAME.gz and NAME.br, which the program holds, and prints the size of the first page.
import { readdirSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const web = dirname(dirname(fileURLToPath(import.meta.url)))
const from = join(web, 'dist')
const to = join(dirname(web), 'built')

for (const name of readdirSync(to)) if (name !== 'README') rmSync(join(to, name), { recursive: true })
const sizes = new Map()
for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const path = join(entry.parentPath ?? entry.path, entry.name)
  const name = path.slice(from.length + 1)
  const text = readFileSync(path)
  mkdirSync(dirname(join(to, name)), { recursive: true })
  const gzip = gzipSync(text, { level: 9 })
  const brotli = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
  writeFileSync(join(to, `${name}.gz`), gzip)
  writeFileSync(join(to, `${name}.br`), brotli)
  sizes.set(name, gzip.length)
}
const index = readFileSync(join(from, 'index.html'), 'utf8')
const first = [...index.matchAll(/(?:src|href)="\/ui\/([^"]+)"/g)].map((match) => match[1])
const total = ['index.html', ...first].reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0)
console.log(`ui: built ${sizes.size} files, first page ${Math.ceil(total / 1024)} KB in gzip`)
if (total > 300 * 1024) {
  console.error('ui: the first page has more than 300 KB: load what it does not need later')
  process.exit(1)
}
