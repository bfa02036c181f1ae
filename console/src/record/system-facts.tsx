import type { PointerNames } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../src/kernel/json.ts';
import { useSystem } from '../api/system.tsx';
import { PointerLink } from '../fields/value-view.tsx';
import { dateOf, objectOf, pointerOf } from '../model/values.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Ltr, Name } from '../ui/text.tsx';
import { words } from '../words/index.ts';
import styles from './system-facts.module.css';

/** System fields of a record: id, times, users, access. */
export function SystemFacts({ record, names }: { record: JsonObject; names: PointerNames }) {
  const texts = words.record;
  const id = String(record.objectId ?? '');
  return (
    <section aria-label={texts.system} className={styles.section}>
      <dl className={styles.facts}>
        <div>
          <dt>{texts.id}</dt>
          <dd className={styles.id}>
            <Ltr>{id}</Ltr> <CopyButton text={() => id} name={`${words.shell.copy}: ${texts.id}`} />
          </dd>
        </div>
        <Written label={texts.createdAt} by={record.createdBy} at={record.createdAt} names={names} />
        <Written label={texts.updatedAt} by={record.updatedBy} at={record.updatedAt} names={names} />
        <div>
          <dt>{texts.access}</dt>
          <dd>
            <Access acl={record.ACL} names={names} />
          </dd>
        </div>
      </dl>
    </section>
  );
}

function Written({
  label,
  by,
  at,
  names,
}: {
  label: string;
  by: JsonValue | undefined;
  at: JsonValue | undefined;
  names: PointerNames;
}) {
  const { format } = useSystem();
  const date = dateOf(at);
  const user = pointerOf(by);
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {date ? <time dateTime={date.toISOString()}>{format.moment(date)}</time> : words.fields.none}
        {user && (
          <>
            {' · '}
            <PointerLink pointer={user} names={names} />
          </>
        )}
      </dd>
    </div>
  );
}

/** The rights to this record. */
function Access({ acl, names }: { acl: JsonValue | undefined; names: PointerNames }) {
  const { format } = useSystem();
  const entries = Object.entries(objectOf(acl) ?? {});
  if (entries.length === 0) return words.record.accessOpen;
  const texts = entries.map(([who, rights]) => {
    const may = objectOf(rights)?.write === true ? words.record.accessWrite : words.record.accessRead;
    return `${nameOf(who, names)}: ${may}`;
  });
  return <Name>{format.list(texts)}</Name>;
}

function nameOf(who: string, names: PointerNames): string {
  if (who === '*') return words.record.everyone;
  return who.startsWith('role:') ? words.record.role(who.slice(5)) : (names._User?.[who] ?? who);
}
