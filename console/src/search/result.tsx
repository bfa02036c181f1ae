import type { SearchResult } from '../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../src/kernel/json.ts';
import { useSystem } from '../api/system.tsx';
import { plainText } from '../model/format.ts';
import { isLtr, shortened } from '../model/text.ts';
import { Ltr, Name } from '../ui/text.tsx';
import { words } from '../words/index.ts';
import { parts } from './groups.ts';
import styles from './result.module.css';

const MAX_TITLE = 200;
const MAX_VALUE = 120;

/** A found record: its title, and the matching field if that is another one. */
export function Result({ result, query }: { result: Pick<SearchResult, 'table' | 'title' | 'matched'>; query: string }) {
  const { field, fieldLabelOf, format } = useSystem();
  const title = result.title.trim() || words.related.untitled;
  const matched = Object.entries(result.matched).filter(([, value]) => !result.title.includes(textOf(value).trim()));
  function textOf(value: JsonValue): string {
    return plainText(value, format);
  }
  return (
    <>
      <span className={styles.title}>
        <bdi>
          <Marked text={shortened(title, MAX_TITLE)} query={query} />
        </bdi>
      </span>
      {matched.slice(0, 3).map(([name, value]) => {
        const text = shortened(textOf(value), MAX_VALUE);
        const Text = isLtr(field(result.table, name) ?? null, text) ? Ltr : Name;
        return (
          <span key={name} className={styles.match}>
            <bdi>{shortened(fieldLabelOf(result.table, name), 60)}</bdi>
            {': '}
            <Text>{text}</Text>
          </span>
        );
      })}
    </>
  );
}

function Marked({ text, query }: { text: string; query: string }) {
  return parts(text, query).map((part, index) =>
    part.isMatch ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
      <mark key={index} className={styles.mark}>
        {part.text}
      </mark>
    ) : (
      part.text
    ),
  );
}
