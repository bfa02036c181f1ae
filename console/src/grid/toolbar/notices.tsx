import { type ReactNode, useEffect, useState } from 'react';
import { ApiFailure, isForbidden } from '../../api/failure.ts';
import type { Format } from '../../model/format.ts';
import { shortened } from '../../model/text.ts';
import { Icon } from '../../ui/icons.tsx';
import { Failure } from '../../ui/states.tsx';
import { isolated } from '../../words/isolated.ts';
import type { GridRows } from '../rows/use-grid-rows.ts';
import { gridWords } from '../words/index.ts';

/** From this number of records on, sorting by a field without an index causes a warning. */
const LARGE_TABLE = 50_000;
const QUERY_TIMEOUT = 124;
/** A query that runs for this long can be stopped. */
const SLOW_MS = 700;

export interface NoticesProps {
  readonly rows: GridRows;
  readonly hasFilter: boolean;
  /** Label of the field that the rows are sorted by and that has no index. */
  readonly unindexedLabel: string | null;
  /** Names in the filter that are not fields visible to the user. */
  readonly unknownFields: readonly string[];
  readonly hasOrder: boolean;
  /** Whether the order contained a field that was left out. */
  readonly isOrderBroken: boolean;
  readonly isWhereBroken: boolean;
  readonly isViewMissing: boolean;
  readonly format: Format;
  readonly children: ReactNode;
  onClearFilter(): void;
  onClearAll(): void;
  onRemoveUnknown(): void;
}

/** Notices about the rows, and the text in their place if there are none. */
export function Notices(props: NoticesProps) {
  const { rows, unindexedLabel, format } = props;
  const { source } = rows;
  const isSlow = useSlow(source, source.isEmpty && rows.isLoading);
  const isLarge = rows.count === null || rows.count > LARGE_TABLE;
  const warns = unindexedLabel !== null && isLarge && (isSlow || (rows.count ?? 0) > LARGE_TABLE);
  const { added, addedHint, noIndex, brokenWhere } = gridWords.rows;
  return (
    <>
      {warns || (isSlow && !source.isStopped) ? (
        <p className="g-notice" role="status">
          <Icon name={warns ? 'warning' : 'clock'} />
          <span>{warns && unindexedLabel ? noIndex(unindexedLabel) : gridWords.loading}</span>
          {rows.isLoading && source.isEmpty ? (
            <button type="button" className="button button-small" onClick={() => source.stop()}>
              {gridWords.stop}
            </button>
          ) : null}
        </p>
      ) : null}
      {props.isWhereBroken ? <p className="g-notice">{brokenWhere}</p> : null}
      {props.isOrderBroken ? <p className="g-notice">{gridWords.rows.brokenOrder}</p> : null}
      {props.unknownFields.length > 0 ? <UnknownFields {...props} /> : null}
      {props.isViewMissing ? <p className="g-notice">{gridWords.views.missing}</p> : null}
      {isUnmatchable(props) ? null : <RowsFailure rows={rows} />}
      <div className="g-frame">
        {props.children}
        {rows.addedCount > 0 ? (
          <button type="button" className="button button-main button-small g-added" title={addedHint} onClick={rows.reload}>
            <Icon name="refresh" size={14} />
            {added(rows.addedCount, format.number(rows.addedCount))}
          </button>
        ) : null}
        <NoRows {...props} />
      </div>
    </>
  );
}

/** At most this many names are shown, each cut to the maximum length of a field's name. */
const MAX_NAMES = 3;
const MAX_NAME = 40;

function UnknownFields({ unknownFields: names, onRemoveUnknown }: NoticesProps) {
  const words = gridWords.filter;
  const shown = names.slice(0, MAX_NAMES).map((name) => `“${isolated(shortened(name, MAX_NAME))}”`);
  const more = names.length > shown.length ? ` ${words.moreNames(names.length - shown.length)}` : '';
  return (
    <p className="g-notice" role="alert">
      <Icon name="warning" />
      <span className="g-notice-text">{words.unknownFields(names.length, shown.join(', ') + more)}</span>
      <button type="button" className="button button-small" onClick={onRemoveUnknown}>
        {words.removeUnknown(names.length)}
      </button>
    </p>
  );
}

/** Returns whether a query was refused because of a name that no field can have, so that no record could match anyway. */
const isUnmatchable = ({ rows: { source }, unknownFields: names }: NoticesProps) =>
  names.length > 0 && source.failure instanceof ApiFailure && source.failure.status < 500;

function RowsFailure({ rows: { source } }: { rows: GridRows }) {
  if (source.failure === null || (source.isEmpty && isForbidden(source.failure))) return null;
  const isTimeout = source.failure instanceof ApiFailure && source.failure.code === QUERY_TIMEOUT;
  if (!isTimeout) return <Failure error={source.failure} onRetry={() => source.retry()} />;
  const { slowTitle, slowText } = gridWords.rows;
  return (
    <div className="g-notice g-notice-bad" role="alert">
      <Icon name="warning" />
      <span>
        <strong>{slowTitle}.</strong> {slowText}
      </span>
      <button type="button" className="button button-small" onClick={() => source.retry()}>
        {gridWords.retry}
      </button>
    </div>
  );
}

function NoRows(props: NoticesProps) {
  const { rows, hasFilter, hasOrder, onClearFilter, onClearAll } = props;
  const { source } = rows;
  const words = gridWords.rows;
  const isInVain = isUnmatchable(props);
  if (source.failure !== null && !isInVain) {
    const isClosed = source.isEmpty && isForbidden(source.failure);
    if (!isClosed) return null;
    if (!hasFilter && !hasOrder) return <Empty title={words.closedTitle} text={words.closedText} />;
    return (
      <Empty title={words.closedFieldTitle} text={words.closedFieldText}>
        <button type="button" className="button" onClick={onClearAll}>
          {words.clearAll}
        </button>
      </Empty>
    );
  }
  if (source.isStopped && source.isEmpty)
    return (
      <Empty title={words.stoppedTitle} text={words.stoppedText}>
        <button type="button" className="button" onClick={() => source.retry()}>
          {gridWords.retry}
        </button>
      </Empty>
    );
  if (source.end !== 0 && !isInVain) return null;
  if (!hasFilter) return <Empty title={words.emptyTitle} text={words.emptyText} />;
  return (
    <Empty title={words.noMatchTitle} text={words.noMatchText}>
      <button type="button" className="button" onClick={onClearFilter}>
        {words.clearFilter}
      </button>
    </Empty>
  );
}

function Empty({ title, text, children }: { title: string; text: string; children?: ReactNode }) {
  return (
    <div className="g-empty">
      <Icon name="table" size={28} />
      <h2>{title}</h2>
      <p>{text}</p>
      {children}
    </div>
  );
}

/** Returns whether the first rows of a query have taken so long that the user may want to stop it. */
function useSlow(question: object, isWaiting: boolean): boolean {
  const [slow, setSlow] = useState<object | null>(null);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(() => setSlow(question), SLOW_MS);
    return () => clearTimeout(timer);
  }, [question, isWaiting]);
  return isWaiting && slow === question;
}
