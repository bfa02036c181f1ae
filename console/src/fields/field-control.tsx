import { lazy, Suspense } from 'react';
import { pointerOf } from '../model/values.ts';
import { BooleanControl } from './boolean-control.tsx';
import type { ControlProps } from './control.ts';
import { FileControl } from './file-control.tsx';
import { PointerControl } from './pointer-control.tsx';
import { PointersControl } from './pointers-control.tsx';
import { TextControl } from './text-control.tsx';

const DateControl = lazy(() => import('./date-control.tsx'));

/** Returns the control for a field's type. */
export function FieldControl(props: ControlProps) {
  const { field, value } = props;
  switch (field.type) {
    case 'Boolean':
      return <BooleanControl {...props} />;
    case 'Date':
      return (
        <Suspense fallback={<span className="input" />}>
          <DateControl {...props} />
        </Suspense>
      );
    case 'Pointer':
      return <PointerControl {...props} />;
    case 'File':
    case 'PrivateFile':
      return <FileControl {...props} />;
    case 'Array':
      return field.targetClass && isPointers(value) ? <PointersControl {...props} /> : <TextControl {...props} />;
    default:
      return <TextControl {...props} />;
  }
}

/** Returns whether the label belongs to a group instead of a single control. */
export function isGroup(type: ControlProps['field']['type']): boolean {
  return type === 'Date';
}

function isPointers(value: ControlProps['value']): boolean {
  return value === null || (Array.isArray(value) && value.every((item) => pointerOf(item)));
}
