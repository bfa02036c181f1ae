import { Link, useSearch } from 'wouter';
import { useSearchQuery } from '../api/reads.ts';
import { useSystem } from '../api/system.tsx';
import { shortened } from '../model/text.ts';
import { Announcement } from '../ui/announcement.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Failure, Skeleton } from '../ui/states.tsx';
import { words } from '../words/index.ts';
import { groupsOf } from './groups.ts';
import { Result } from './result.tsx';
import styles from './search-page.module.css';

const MAX_RESULTS = 100;

/** All results of a search, by table. */
export function SearchPage() {
  const { appId, labelOf, paths } = useSystem();
  const query = new URLSearchParams(useSearch()).get('q')?.trim() ?? '';
  const search = useSearchQuery(appId, query, '', MAX_RESULTS, query !== '');
  const results = search.data?.results ?? [];
  const shown = shortened(query, 100);
  return (
    <Page title={query ? words.search.titleOf(shown) : words.search.title}>
      {query === '' && <Empty icon="search">{words.search.start}</Empty>}
      {query !== '' && search.isPending && <Skeleton lines={6} />}
      {search.isError && <Failure error={search.error} onRetry={() => search.refetch()} />}
      {search.isSuccess && (
        <>
          <Announcement text={results.length ? words.search.found(results.length) : words.search.none(shown)} />
          <p className={styles.count}>{results.length > 0 ? words.search.found(results.length) : words.search.none(shown)}</p>
          {results.length === 0 && <p className="hint">{words.search.noneHint}</p>}
          {search.data.isPartial && <p className="hint">{words.search.partial}</p>}
        </>
      )}
      {groupsOf(results).map((group) => (
        <section key={group.table} className={styles.group} aria-label={labelOf(group.table)}>
          <h2 className={styles.table}>
            <bdi>{labelOf(group.table)}</bdi>
            <span className={styles.number}>{group.results.length}</span>
          </h2>
          <ul className="card">
            {group.results.map((result) => (
              <li key={result.objectId} className={styles.row}>
                <Link href={paths.record(result.table, result.objectId)} className={styles.link}>
                  <Result result={result} query={query} />
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Page>
  );
}
