import type { TableModel } from '../../../../src/console/protocol/protocol.ts';
import { useSystem } from '../../api/system.tsx';
import { go } from '../../ui/go.ts';
import { Icon } from '../../ui/icons.tsx';
import { ColumnsPanel } from '../columns/columns-panel.tsx';
import type { Sort } from '../columns/order.ts';
import { SortPanel } from '../columns/sort-panel.tsx';
import type { GridRows } from '../rows/use-grid-rows.ts';
import type { View } from '../view/use-view.ts';
import { ViewBar } from '../view/view-bar.tsx';
import { gridWords } from '../words/index.ts';

export interface ToolbarProps {
  readonly table: TableModel;
  readonly view: View;
  readonly sorts: readonly Sort[];
  readonly rows: GridRows;
  onSort(sorts: readonly Sort[]): void;
}

/** The name of the table, the number of records, and the tools. */
export function Toolbar({ table, view, sorts, rows, onSort }: ToolbarProps) {
  const { labelOf, paths, format } = useSystem();
  const { count, source } = rows;
  const isCounting = source.failure === null && !source.isStopped;
  return (
    <div className="g-toolbar">
      <div className="g-heading">
        <h1>
          <bdi>{labelOf(table.name)}</bdi>
        </h1>
        <span className="g-count">
          {count === null ? isCounting && gridWords.counting : gridWords.count(count, format.number(count))}
        </span>
      </div>
      <div className="g-tools">
        <ViewBar table={table.name} view={view} />
        <span className="g-grow" />
        <SortPanel table={table} sorts={sorts} onChange={onSort} />
        <ColumnsPanel table={table} columns={view.state.columns} onChange={(columns) => view.change({ columns }, true)} />
      </div>
      {table.may.create ? (
        <button type="button" className="button button-small button-main g-new" onClick={() => go(paths.newRecord(table.name))}>
          <Icon name="plus" />
          {gridWords.newRecord}
        </button>
      ) : null}
    </div>
  );
}
