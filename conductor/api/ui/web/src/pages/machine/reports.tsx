import { get } from '../../api/client'
import { ferrite } from '../../api/machine'
import type { EraseReport } from '../../api/types'
import { Empty, Failed } from '../../components/notice'
import { ReportTable } from '../../components/report-table'
import { useData } from '../../hooks/use-data'
import type { TabProps } from '../machine'

/** Reports are the signed reports of what was erased. */
export function Reports({ node }: TabProps) {
  const found = useData((signal) => get<{ erase_reports: EraseReport[] }>(ferrite(node.uuid ?? '', '/erase-reports'), undefined, signal), [node.uuid, node.updated_at])
  if (!found.data) return <Failed error={found.error} retry={found.reload} />
  if (found.data.erase_reports.length === 0) return <Empty>Nothing of this machine was erased yet.</Empty>
  return <ReportTable reports={found.data.erase_reports} nodes={false} />
}
