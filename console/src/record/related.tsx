import { Link } from 'wouter';
import type { RelatedTable } from '../../../src/console/protocol/protocol.ts';
import { isSessionOver, NoConnection } from '../api/failure.ts';
import { useRelatedQuery } from '../api/reads.ts';
import { useSystem } from '../api/system.tsx';
import { shortened } from '../model/text.ts';
import { Empty, Failure, Skeleton } from '../ui/states.tsx';
import { words } from '../words/index.ts';
import styles from './related.module.css';

/** Records that point to this one, by table: how many, and the newest. */
export function Related({ table, objectId }: { table: string; objectId: string }) {
  const { appId, format, labelOf } = useSystem();
  const related = useRelatedQuery(appId, table, objectId);
  const tables = related.data?.tables.filter((other) => other.count > 0) ?? [];
  const slow = related.data?.tookTooLong ?? [];
  const isFailed = related.isError && !(related.error instanceof NoConnection) && !isSessionOver(related.error);
  return (
    <section className={`card ${styles.section}`} aria-labelledby="related">
      <h2 id="related">{words.related.title}</h2>
      {related.isPending && <Skeleton lines={4} />}
      {isFailed && <Failure error={related.error} onRetry={() => related.refetch()} />}
      {related.isSuccess && tables.length === 0 && slow.length === 0 && <Empty icon="link">{words.related.empty}</Empty>}
      {tables.map((other) => (
        <RelatedGroup key={other.table} related={other} />
      ))}
      {slow.length > 0 && <p className="hint">{words.related.slow(format.list(slow.map(labelOf)))}</p>}
    </section>
  );
}

function RelatedGroup({ related }: { related: RelatedTable }) {
  const { format, labelOf, paths } = useSystem();
  return (
    <div className={styles.group}>
      <h3 className={styles.head}>
        <Link href={paths.grid(related.table, related.where)} className={styles.table} title={words.related.all(related.count)}>
          <bdi>{shortened(labelOf(related.table), 100)}</bdi>
        </Link>
        <span className={styles.count}>{format.number(related.count)}</span>
      </h3>
      <ul>
        {related.rows.map((row) => (
          <li key={row.objectId}>
            <Link href={paths.record(related.table, row.objectId)} className={styles.row}>
              <bdi className="clipped">{shortened(row.title.trim() || words.related.untitled, 120)}</bdi>
              <time className={styles.time} dateTime={row.createdAt}>
                {format.date(new Date(row.createdAt)).split(',')[0]}
              </time>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
