import type { EraseReport } from '../api/types'
import { path } from '../api/client'
import { dateTime, visible } from '../lib/format'
import { address } from '../lib/route'
import { Link } from './link'
import { Table } from './table'

/** ReportTable lists erase reports, each to be downloaded as it was signed. */
export const ReportTable = ({ reports, nodes }: { reports: EraseReport[]; nodes: boolean }) => (
  <Table
    label="Erase reports"
    rows={reports}
    id={(r) => r.uuid}
    columns={[
      { label: 'Signed', short: true, of: (r) => dateTime(r.signed_at) },
      ...(nodes
        ? [{ label: 'Machine', of: (r: EraseReport) => <Link to={address(['machines', r.node_uuid])}>{visible(r.node_name || r.node_uuid)}</Link> }]
        : []),
      { label: 'Result', of: (r) => (r.failed ? <span className="bad">✕ failed</span> : <span className="good">✓ erased</span>) },
      { label: 'Disks erased', number: true, of: (r) => r.erased },
      { label: 'Left out', wide: true, number: true, of: (r) => r.skipped },
      { label: 'Errors', wide: true, number: true, of: (r) => r.errors },
      {
        label: 'Report',
        of: (r) => (
          <a href={path('/ferrite/v1/erase-reports/{report}', r.uuid)} download={`erase-report-${r.uuid}.json`}>
            Download<span className="visually-hidden"> the report of {dateTime(r.signed_at)}</span>
          </a>
        ),
      },
    ]}
  />
)
