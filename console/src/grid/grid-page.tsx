import { Link } from 'wouter';
import { useSystem } from '../api/system.tsx';
import { Page } from '../ui/page.tsx';
import { words } from '../words/index.ts';

/** A table's page. */
export function GridPage({ table }: { table: string }) {
  const { labelOf, paths } = useSystem();
  return (
    <Page
      title={labelOf(table)}
      actions={
        <Link href={paths.newRecord(table)} className="button button-main">
          {words.record.new}
        </Link>
      }
    >
      <p />
    </Page>
  );
}
