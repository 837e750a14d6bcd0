import { all } from '../api/client'
import type { EraseReport } from '../api/types'
import { Empty, Failed } from '../components/notice'
import { ReportTable } from '../components/report-table'
import { useData } from '../hooks/use-data'
import { plural } from '../lib/format'

/** EraseReportsPage is what was erased of all machines, also of those that are no more. */
export function EraseReportsPage() {
  const found = useData(async (signal) => (await all<EraseReport>('/ferrite/v1/erase-reports', 'erase_reports', {}, signal)).reverse(), [])
  return (
    <>
      <div className="heading">
        <h1>Erase reports</h1>
        <p className="muted">{found.data && plural(found.data.length, 'report')}</p>
      </div>
      <Failed error={found.error} retry={found.reload} />
      {found.data?.length === 0 && <Empty>Nothing was erased yet. Cleaning makes a signed report for each machine.</Empty>}
      {found.data && found.data.length > 0 && <ReportTable reports={found.data.slice(0, 500)} nodes />}
    </>
  )
}
