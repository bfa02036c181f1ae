import { useState } from 'react';
import type { HistoryChange, HistoryEntry, PointerNames, TableModel } from '../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../src/kernel/json.ts';
import { isForbidden, isSessionOver, NoConnection } from '../api/failure.ts';
import { useHistoryQuery } from '../api/reads.ts';
import { useSystem } from '../api/system.tsx';
import { ValueView } from '../fields/value-view.tsx';
import { shortened } from '../model/text.ts';
import { Empty, Failure, Skeleton } from '../ui/states.tsx';
import { words } from '../words/index.ts';
import styles from './timeline.module.css';

/** Changes of an entry that are shown initially. */
const MAX_CHANGES = 6;
const MAX_VALUE = 160;

/** The history of a record: who, when, through which channel, from which value to which. */
export function Timeline({ table, objectId }: { table: TableModel; objectId: string }) {
  const { appId } = useSystem();
  const history = useHistoryQuery(appId, table.name, objectId);
  const pages = history.data?.pages ?? [];
  const entries = pages.flatMap((page) => page.entries.map((entry) => ({ entry, names: page.names })));
  const isKept = table.keepsHistory && pages[0]?.isKept !== false;
  const isClosed = isForbidden(history.error);
  const isFailed = history.isError && !isClosed && !(history.error instanceof NoConnection) && !isSessionOver(history.error);
  return (
    <section className={`card ${styles.section}`} aria-labelledby="timeline">
      <h2 id="timeline">{words.timeline.title}</h2>
      {!isKept && <Empty icon="clock">{words.timeline.notKept}</Empty>}
      {isKept && isClosed && <Empty icon="clock">{words.timeline.closed}</Empty>}
      {isKept && history.isPending && <Skeleton lines={4} />}
      {isKept && isFailed && <Failure error={history.error} onRetry={() => history.refetch()} />}
      {isKept && history.isSuccess && entries.length === 0 && <Empty icon="clock">{words.timeline.empty}</Empty>}
      {isKept && entries.length > 0 && (
        <ol className={styles.entries}>
          {entries.map(({ entry, names }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: entries of the same moment differ in nothing else
            <Entry key={`${entry.at} ${entries.length - index}`} table={table.name} entry={entry} names={names} />
          ))}
        </ol>
      )}
      {history.hasNextPage && (
        <button
          type="button"
          className="button button-small"
          disabled={history.isFetchingNextPage}
          onClick={() => history.fetchNextPage()}
        >
          {words.timeline.older}
        </button>
      )}
    </section>
  );
}

function Entry({ table, entry, names }: { table: string; entry: HistoryEntry; names: PointerNames }) {
  const { format } = useSystem();
  const [isAll, setAll] = useState(false);
  const at = new Date(entry.at);
  const changes = isAll ? entry.changes : entry.changes.slice(0, MAX_CHANGES);
  const who = entry.by?.name.trim() || (entry.via?.kind === 'key' ? words.timeline.key : words.timeline.nobody);
  return (
    <li className={styles.entry} data-event={entry.event}>
      <p className={styles.head}>
        <bdi className={styles.who}>{shortened(who, 80)}</bdi>
        {words.timeline.between}
        {words.timeline[entry.event]}
        {entry.via && <Via via={entry.via} />}
      </p>
      <p className={styles.when}>
        {format.ago(at)} · <time dateTime={entry.at}>{format.moment(at)}</time>
      </p>
      {changes.length > 0 && (
        <ul className={styles.changes}>
          {changes.map((change) => (
            <Change key={change.field} table={table} change={change} names={names} />
          ))}
        </ul>
      )}
      {changes.length < entry.changes.length && (
        <button type="button" className="button button-link" onClick={() => setAll(true)}>
          {words.timeline.showAll(entry.changes.length)}
        </button>
      )}
    </li>
  );
}

function Via({ via }: { via: NonNullable<HistoryEntry['via']> }) {
  const name = via.name?.trim() ?? '';
  if (via.kind === 'key' && !name) return null;
  return (
    <>
      {words.timeline.between}
      <bdi className={styles.via}>{words.timeline.via[via.kind](shortened(name, 80))}</bdi>
    </>
  );
}

function Change({ table, change, names }: { table: string; change: HistoryChange; names: PointerNames }) {
  const { field, fieldLabelOf } = useSystem();
  const of = field(table, change.field) ?? { name: change.field, type: 'String', isReadOnly: true, isIndexed: false };
  const value = (content: JsonValue | undefined) => (
    <ValueView field={of} value={content ?? null} names={names} maxLength={MAX_VALUE} />
  );
  return (
    <li className={styles.change}>
      <span className={styles.field}>
        <bdi>{shortened(fieldLabelOf(table, change.field), 80)}</bdi>
      </span>
      {change.steps !== undefined ? (
        <span>
          {words.timeline.operation} <code dir="ltr">{shortened(JSON.stringify(change.steps), MAX_VALUE)}</code>
        </span>
      ) : (
        <span className={styles.values}>
          {change.from !== undefined && (
            <>
              <span className="visually-hidden">{words.timeline.from} </span>
              <span className={styles.from}>{value(change.from)}</span>
              <span className={styles.arrow} aria-hidden="true" />
              <span className="visually-hidden"> {words.timeline.to} </span>
            </>
          )}
          <span>{value(change.to)}</span>
        </span>
      )}
    </li>
  );
}
