// Short names for what the API's description defines.
import type { Operations } from './schema'

export type { Allocation, BiosSetting, Chassis, Conductor, FirmwareComponent, HistoryEntry, Node, Port, Runbook, Template } from './schema'

export type Answer<K extends keyof Operations> = Operations[K]['answer']
export type Body<K extends keyof Operations> = Operations[K]['body']

export type Session = Answer<'GET /ferrite/v1/session'>
export type Status = Answer<'GET /ferrite/v1/nodes/{node}/status'>
export type Event = Answer<'GET /ferrite/v1/events'>
export type Inventory = Answer<'GET /v1/nodes/{node}/inventory'>
export type Sensors = Answer<'GET /ferrite/v1/nodes/{node}/sensors'>
export type RootDevice = Answer<'POST /ferrite/v1/nodes/{node}/root-device'>
export type Provision = Body<'PUT /v1/nodes/{node}/states/provision'>
export type Lease = Answer<'GET /ferrite/v1/leases'>['leases'][number]
export type Member = Answer<'GET /ferrite/v1/conductors'>['conductors'][number]
export type EraseReport = Answer<'GET /ferrite/v1/erase-reports'>['erase_reports'][number]
