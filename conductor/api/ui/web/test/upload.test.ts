import { describe, expect, it } from 'vitest'
import { choices } from '../src/lib/enroll'
import { imageOf } from '../src/lib/deploy'
import { nameError, nameOf, speed, takenNames } from '../src/lib/upload'
import { quoted } from '../src/lib/users'

describe('uploads', () => {
  it.each([
    ['debian-12.qcow2', 'debian-12'],
    ['Tiny OS.raw.zst', 'Tiny-OS'],
    ['.hidden', 'hidden'],
    ['vmlinuz', 'vmlinuz'],
  ])('the image of %s is called %s', (file, name) => {
    expect(nameOf(file)).toBe(name)
    expect(nameError(name)).toBe('')
  })
  it.each(['a b', '-x', 'ä', 'a/b', 'a'.repeat(129)])('%s is no name', (name) => expect(nameError(name)).not.toBe(''))
  it.each([
    ['', ['all']],
    ['blue', ['all', 'own']],
  ])('project %s cannot have the names of its images, and of those of all', (project, taken) => {
    expect(takenNames([{ name: 'all' }, { name: 'own', owner: 'blue' }, { name: 'theirs', owner: 'red' }], project)).toEqual(taken)
  })
  it('has a rate after a second', () => {
    expect(speed(500, 1000, 0.5)).toEqual({ rate: 0, left: 0 })
    expect(speed(500, 2000, 2)).toEqual({ rate: 250, left: 6 })
  })
})

describe('the image of the last deploy', () => {
  it('is as it was typed', () => {
    expect(imageOf({ image_source: 'image:tiny', image_os_hash_value: 'ab', image_disk_format: 'qcow2' })).toEqual({ url: 'tiny', checksum: 'ab', format: 'qcow2' })
    expect(imageOf(null)).toEqual({ url: '', checksum: '', format: '' })
  })
})

describe('interfaces of a driver', () => {
  it('are offered where there is a choice', () => {
    const found = choices({ name: 'redfish', default_inspect_interface: 'redfish', enabled_inspect_interfaces: ['redfish', 'agent'], enabled_raid_interfaces: ['no-raid'] })
    expect(found.map((c) => [c.field, c.default, c.options])).toEqual([['inspect_interface', 'redfish', ['redfish', 'agent']]])
  })
})

describe('words of a shell', () => {
  it.each([['alice', 'alice'], ["o'brien x", `'o'\\''brien x'`], ['$(id)', `'$(id)'`], ['-x', `'-x'`]])('%s', (text, want) => expect(quoted(text)).toBe(want))
})
