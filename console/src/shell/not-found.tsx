import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { useSystem } from '../api/system.tsx';
import { noteTable } from '../memory/recent.ts';
import { MessagePage } from '../ui/states.tsx';
import { words } from '../words/index.ts';

/** Shown at an address without a page. */
export function NotFound() {
  const { paths } = useSystem();
  return (
    <MessagePage title={words.errors.notFoundTitle} text={words.errors.notFoundText}>
      <Link href={paths.home} className="button">
        {words.errors.toHome}
      </Link>
    </MessagePage>
  );
}

/** Shows content that needs a table if the user may see it, else a page that says so. */
export function NoTable({ table, children }: { table: string; children: ReactNode }) {
  const { appId, model, paths, tables } = useSystem();
  const found = tables.get(table);
  const isNoted = found?.isListed ?? false;
  useEffect(() => {
    if (isNoted) noteTable(appId, model.me.objectId, table);
  }, [isNoted, appId, model.me.objectId, table]);
  if (found) return children;
  return (
    <MessagePage title={words.errors.noTableTitle} text={words.errors.noTableText}>
      <Link href={paths.home} className="button">
        {words.errors.toHome}
      </Link>
    </MessagePage>
  );
}
