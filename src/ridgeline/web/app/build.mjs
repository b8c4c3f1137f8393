// Writes ../static from src: the same sources give the same bytes, on every machine.
import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const out = process.argv[2] ?? join(here, '..', 'static')

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

async function filesBelow(folder) {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** One line "name sha256" per source file, hashed: tests/web/test_static.py computes the same. */
async function digestOfSources() {
  const paths = ['package.json', 'package-lock.json', 'build.mjs'].map((name) => join(here, name))
  paths.push(...(await filesBelow(join(here, 'src'))))
  const lines = await Promise.all(
    paths.map(async (path) => `${relative(here, path).split(sep).join('/')} ${sha256(await readFile(path))}\n`),
  )
  return sha256(lines.sort().join(''))
}

/** Licences and notices of every package that has bytes in the output. */
async function licences(metafile) {
  const names = new Set()
  for (const input of Object.keys(metafile.inputs)) {
    const match = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)
    if (match) names.add(match[1])
  }
  const texts = []
  for (const name of [...names].sort()) {
    const folder = join(here, 'node_modules', name)
    const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const files = (await filesBelow(folder))
      .filter((path) => /^(licen[cs]es?|notice|copyright)\b[^/]*(\/|$)/i.test(relative(folder, path)) && !path.endsWith('.html'))
      .sort()
    if (!files.length) throw new Error(`${name} has no licence file`)
    const bodies = await Promise.all(files.map((path) => readFile(path, 'utf8')))
    texts.push(`${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n\n${bodies.join('\n\n').trim()}\n`)
  }
  return texts.join('\n')
}

const result = await build({
  absWorkingDir: here,
  entryPoints: { app: 'src/main.js', style: 'src/style.css' },
  outdir: '/static',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  metafile: true,
  write: false,
  logLevel: 'warning',
})

const files = new Map()
for (const { path, contents } of result.outputFiles) {
  const name = path.split(/[\\/]/).pop()
  files.set(name === 'style.css' ? 'app.css' : name, Buffer.from(contents))
}
files.delete('style.js')
files.set('index.html', await readFile(join(here, 'src', 'index.html')))
files.set('icon.svg', await readFile(join(here, 'src', 'icon.svg')))
files.set('LICENSES.txt', Buffer.from(await licences(result.metafile)))

const listed = Object.fromEntries([...files].map(([name, bytes]) => [name, sha256(bytes)]).sort())
const summary = { sources: await digestOfSources(), files: listed }
files.set('build.json', Buffer.from(`${JSON.stringify(summary, null, 2)}\n`))

await rm(out, { recursive: true, force: true })
await mkdir(out, { recursive: true })
for (const [name, bytes] of files) await writeFile(join(out, name), bytes)
const total = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0)
console.log(`${files.size} files, ${(total / 1e3).toFixed(0)} kB in ${relative(process.cwd(), out) || '.'}`)
