import { useEffect, useMemo, useRef, useState } from 'react';
import type { TableModel } from '../../../src/console/protocol/protocol.ts';
import { useSystem } from '../api/system.tsx';
import { knownZone } from '../model/format.ts';
import { shortened } from '../model/text.ts';
import { announce } from '../ui/announce.tsx';
import { go } from '../ui/go.ts';
import { Skeleton } from '../ui/states.tsx';
import { ColumnMenu } from './columns/column-menu.tsx';
import { arranged, canMove, movedBefore, movedBy, withPin, withShown, withWidth } from './columns/columns.ts';
import { orderText, parseOrder, type Sort, toggled } from './columns/order.ts';
import { FilterBar } from './filter/filter-bar.tsx';
import { fromWhere } from './filter/from-where.ts';
import { refreshWords } from './filter/refresh-words.ts';
import { toWhere } from './filter/to-where.ts';
import { isKnown, unknownFields, withoutFields } from './filter/unknown-fields.ts';
import { useGridRows } from './rows/use-grid-rows.ts';
import { DataGrid } from './table/data-grid.tsx';
import type { Column } from './table/layout.ts';
import { Notices } from './toolbar/notices.tsx';
import { Toolbar } from './toolbar/toolbar.tsx';
import { useView } from './view/use-view.ts';
import { gridWords } from './words/index.ts';

interface OpenMenu {
  readonly column: Column;
  readonly at: number;
}

/** A table. Its view state is in the address (`view/`); its rows are loaded in blocks (`rows/`). */
export function TableView({ table }: { table: TableModel }) {
  const view = useView(table);
  return view.isLoading ? (
    <div className="g-page">
      <Skeleton lines={8} />
    </div>
  ) : (
    <LoadedView table={table} view={view} />
  );
}

function LoadedView({ table, view }: { table: TableModel; view: ReturnType<typeof useView> }) {
  const { appId, model, paths, labelOf, fieldLabelOf, format } = useSystem();
  const { state, change, saved } = view;
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const [newField, setNewField] = useState<string | null>(null);
  const opener = useRef<HTMLElement | null>(null);

  const timeZone = knownZone(model.timeZone);
  const context = useMemo(
    () => ({ fields: table.fields, meId: model.me.objectId, timeZone, nowMs: Date.now() }),
    [table, model.me.objectId, timeZone],
  );
  const filter = useMemo(() => fromWhere(state.where, context), [state.where, context]);
  const where = useMemo(() => refreshWords(state.where, { ...context, nowMs: Date.now() }), [state.where, context]);
  const known = useMemo(() => new Set(table.fields.map(({ name }) => name)), [table]);
  const unknown = useMemo(() => unknownFields(state.where, known), [state.where, known]);
  const requestedSorts = useMemo(() => parseOrder(state.order), [state.order]);
  // Leaves out fields that do not exist or are closed to the user: the service would refuse or ignore them.
  const sorts = useMemo(() => requestedSorts.filter(({ field }) => isKnown(field, known)), [requestedSorts, known]);
  const unindexed = sorts
    .map(({ field }) => table.fields.find(({ name }) => name === field))
    .find((field) => field && !field.isIndexed);
  const fields = useMemo(() => [...state.columns.map(({ field }) => field), ...table.titleFields], [state.columns, table]);
  const rows = useGridRows(appId, table.name, where, orderText(sorts), fields, unindexed !== undefined);
  useSpokenCount(rows.count, rows.source);

  const sort = (next: readonly Sort[]) => change({ order: orderText(next) });
  const commands = {
    sort: (field: string, isDescending: boolean | null, isAdded: boolean) => {
      const others = isAdded ? sorts.filter((one) => one.field !== field) : [];
      sort(isDescending === null ? others : [...others, { field, isDescending }]);
    },
    filter: setNewField,
    move: (field: string, step: 1 | -1) =>
      change(
        {
          columns: movedBy(
            state.columns,
            state.columns.findIndex((one) => one.field === field),
            step,
          ),
        },
        true,
      ),
    resize: (field: string, width: number) => change({ columns: withWidth(state.columns, field, width) }, true),
    pin: (field: string, isPinned: boolean) =>
      change({ columns: arranged(table, withPin(state.columns, field, isPinned)) }, true),
    hide: (field: string) => change({ columns: withShown(state.columns, field, false) }, true),
  };
  const headerActions = {
    sort: (column: Column, isAdded: boolean) => sort(toggled(sorts, column.field.name, isAdded)),
    openMenu: (column: Column, at: number, element: HTMLElement) => {
      opener.current = element;
      setMenu({ column, at });
    },
    resize: (column: Column, width: number) => commands.resize(column.field.name, width),
    moveBefore: (column: Column, before: Column | null) =>
      change({ columns: arranged(table, movedBefore(state.columns, column.field.name, before?.field.name ?? null)) }, true),
  };
  const title = labelOf(table.name);
  return (
    <div className="g-page">
      <title>{saved ? `${shortened(saved.name, 100)} · ${shortened(title, 60)}` : shortened(title, 60)}</title>
      <Toolbar table={table} view={view} sorts={sorts} rows={rows} onSort={sort} />
      <FilterBar
        table={table}
        filter={filter}
        newField={newField}
        onNewFieldDone={() => setNewField(null)}
        onChange={(next) => change({ where: toWhere(next, { ...context, nowMs: Date.now() }) })}
      />
      <Notices
        rows={rows}
        hasFilter={filter.conditions.length > 0}
        unindexedLabel={unindexed ? fieldLabelOf(table.name, unindexed.name) : null}
        unknownFields={unknown}
        hasOrder={sorts.length > 0}
        isOrderBroken={sorts.length < requestedSorts.length}
        isWhereBroken={view.isWhereBroken}
        isViewMissing={view.isMissing}
        onClearFilter={() => change({ where: {} })}
        onClearAll={() => change({ where: {}, order: '' })}
        onRemoveUnknown={() => change({ where: withoutFields(state.where, unknown) })}
        format={format}
      >
        <DataGrid
          table={table}
          columns={state.columns}
          sorts={sorts}
          rows={rows}
          headerActions={headerActions}
          openRecord={(objectId) => go(paths.record(table.name, objectId))}
        />
      </Notices>
      {menu ? (
        <ColumnMenu
          column={menu.column}
          at={menu.at}
          opener={opener}
          sorts={sorts}
          canMove={(at, step) => canMove(state.columns, at, step)}
          commands={commands}
          onClose={() => setMenu(null)}
        />
      ) : null}
    </div>
  );
}

/** Announces the number of records once per query. */
function useSpokenCount(count: number | null, question: object): void {
  const { format } = useSystem();
  const spoken = useRef<object | null>(null);
  useEffect(() => {
    if (count === null || spoken.current === question) return;
    const isFirst = spoken.current === null;
    spoken.current = question;
    if (!isFirst) announce(gridWords.count(count, format.number(count)));
  }, [count, question, format]);
}
