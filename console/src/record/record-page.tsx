import { useEffect } from 'react';
import { Link } from 'wouter';
import type { TableModel } from '../../../src/console/protocol/protocol.ts';
import { isForbidden, isMissing, isSessionOver, NoConnection } from '../api/failure.ts';
import { useRecordQuery } from '../api/reads.ts';
import { useSystem } from '../api/system.tsx';
import { forgetRecord, noteRecord } from '../memory/recent.ts';
import { tableLabel } from '../model/labels.ts';
import { titleOf } from '../model/record.ts';
import { shortened } from '../model/text.ts';
import { Failure, MessagePage, Skeleton } from '../ui/states.tsx';
import { words } from '../words/index.ts';
import { GonePage } from './gone-page.tsx';
import styles from './record.module.css';
import { RecordView } from './record-view.tsx';

/** The page of a record. Reference: console.md#addresses-of-the-console. */
export function RecordPage({ table, objectId }: { table: string; objectId: string }) {
  const { appId, model, paths, tables } = useSystem();
  const query = useRecordQuery(appId, table, objectId);
  const tableModel = tables.get(table) as TableModel;
  const userId = model.me.objectId;
  const title = query.data && titleOf(tableModel, query.data.record, query.data.names);
  const isGone = isMissing(query.error);
  useEffect(() => {
    if (isGone) forgetRecord(appId, userId, objectId);
    else if (title !== undefined) noteRecord(appId, userId, { table, objectId, title: shortened(title, 200) });
  }, [isGone, appId, userId, table, objectId, title]);
  if (isGone && query.data) return <GonePage table={tableModel} objectId={objectId} title={title ?? ''} />;
  if (query.data) return <RecordView table={tableModel} objectId={objectId} answer={query.data} title={title || objectId} />;
  const isClosed = isForbidden(query.error);
  if (isGone || isClosed) {
    const [name, text] = isClosed
      ? [words.record.closedTitle, words.record.closedText]
      : [words.record.missingTitle, words.record.missingText];
    return (
      <MessagePage title={name} text={text}>
        <Link href={paths.grid(table)} className="button">
          <bdi>{shortened(tableLabel(tableModel), 60)}</bdi>
        </Link>
      </MessagePage>
    );
  }
  const isFailed = query.error && !(query.error instanceof NoConnection) && !isSessionOver(query.error);
  return (
    <div className={styles.loading}>
      <h1 className="visually-hidden">{words.shell.loading}</h1>
      {isFailed ? <Failure error={query.error} onRetry={() => query.refetch()} /> : <Skeleton lines={9} />}
    </div>
  );
}
