"""The few protobuf messages of ONNX that reading weights and writing a graph takes.

onnxruntime brings protobuf along already, while the onnx package would add 33 MB for these definitions. Names and
field numbers are those of onnx.proto, where a number never changes its meaning.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "anabranch.onnx"

_SCHEMA = {
    "ModelProto": "int64 ir_version 1, GraphProto graph 7, OperatorSetIdProto* opset_import 8",
    "OperatorSetIdProto": "string domain 1, int64 version 2",
    "GraphProto": "NodeProto* node 1, string name 2, TensorProto* initializer 5, "
    "ValueInfoProto* input 11, ValueInfoProto* output 12",
    "NodeProto": "string* input 1, string* output 2, string name 3, string op_type 4, AttributeProto* attribute 5, "
    "string domain 7",
    "AttributeProto": "string name 1, float f 2, int64 i 3, int64* ints 8, int32 type 20",
    "TensorProto": "int64* dims 1, int32 data_type 2, string name 8, bytes raw_data 9",
    "ValueInfoProto": "string name 1, TypeProto type 2",
    "TypeProto": "TypeProtoTensor tensor_type 1",
    "TypeProtoTensor": "int32 elem_type 1, TensorShapeProto shape 2",
    "TensorShapeProto": "TensorShapeProtoDimension* dim 1",
    "TensorShapeProtoDimension": "int64 dim_value 1, string dim_param 2",
}
"""Per message its fields: kind, name, number; a star for a repeated one."""

_SCALARS = {
    kind: getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{kind.upper()}")
    for kind in ("int64", "int32", "float", "string", "bytes")
}


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="anabranch/onnx.proto", package=_PACKAGE)
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for kind, field, number in (each.split() for each in fields.split(", ")):
            added = message.field.add(name=field, number=int(number))
            added.label = added.LABEL_REPEATED if kind.endswith("*") else added.LABEL_OPTIONAL
            plain = kind.removesuffix("*")
            added.type = _SCALARS.get(plain, added.TYPE_MESSAGE)
            if plain not in _SCALARS:
                added.type_name = f".{_PACKAGE}.{plain}"
    # A pool of our own: the onnx package may register the same messages in the common one.
    return dict(message_factory.GetMessages([file], pool=descriptor_pool.DescriptorPool()))


_CLASSES = _classes()

ModelProto: Any = _CLASSES[f"{_PACKAGE}.ModelProto"]
GraphProto: Any = _CLASSES[f"{_PACKAGE}.GraphProto"]
