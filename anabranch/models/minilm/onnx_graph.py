"""Writes an ONNX graph node by node, and reads the constants of one.

onnxruntime brings protobuf along already, while the onnx package would add 33 MB for the few messages defined here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from numpy.typing import NDArray

_PACKAGE = "anabranch.onnx"

# Per message its fields: kind, name, number; a star for a repeated one. Names and numbers are those of onnx.proto.
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

# Numbers of the element types in onnx.proto.
FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
_TYPES = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32, "int64": INT64}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7

# The first version of the standard operators with Gelu, and the format that belongs to it.
_OPSET, _IR_VERSION = 20, 9
# Operators that onnxruntime adds to the standard's.
CONTRIB = "com.microsoft"


class GraphBuilder:
    """Collects constants and nodes, and gives the model's bytes at the end."""

    def __init__(self) -> None:
        # The graph is filled where it belongs: to put it into a model later would copy all its constants.
        self._model = ModelProto(ir_version=_IR_VERSION)
        self._graph = self._model.graph
        self._graph.name = "graph"

    def constant(self, values: Any) -> str:  # noqa: ANN401  (whatever numpy takes)
        """Add an array, or a float32 scalar for a Python float, or int64 for integers; return its name."""
        array = np.asarray(values, dtype=np.float32 if isinstance(values, float) else None)
        name = f"constant{len(self._graph.initializer)}"
        data = np.ascontiguousarray(array).tobytes()
        self._graph.initializer.add(name=name, dims=array.shape, data_type=_TYPES[str(array.dtype)], raw_data=data)
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: float | list[int]) -> str:
        """Add an operator with one output; return the output's name."""
        output = f"{operator}{len(self._graph.node)}"
        node = self._graph.node.add(op_type=operator, input=inputs, output=[output], name=output, domain=domain)
        for name, value in attributes.items():
            if isinstance(value, list):
                node.attribute.add(name=name, ints=value, type=_ATTRIBUTE_INTS)
            elif isinstance(value, int):
                node.attribute.add(name=name, i=value, type=_ATTRIBUTE_INT)
            else:
                node.attribute.add(name=name, f=value, type=_ATTRIBUTE_FLOAT)
        return output

    def input(self, name: str, element: int, shape: tuple[int | str, ...]) -> str:
        """Declare what the model takes; a string in the shape names a length that varies."""
        self._declare(self._graph.input.add(name=name), element, shape)
        return name

    def model(self, output: str, element: int, shape: tuple[int | str, ...]) -> bytes:
        """Declare what the model gives, and return the model as the content of a .onnx file."""
        self._declare(self._graph.output.add(name=output), element, shape)
        self._model.opset_import.add(domain="", version=_OPSET)
        self._model.opset_import.add(domain=CONTRIB, version=1)
        return bytes(self._model.SerializeToString())

    def _declare(self, value: Any, element: int, shape: tuple[int | str, ...]) -> None:  # noqa: ANN401  (protobuf)
        value.type.tensor_type.elem_type = element
        for length in shape:
            known = {"dim_value": length} if isinstance(length, int) else {"dim_param": length}
            value.type.tensor_type.shape.dim.add(**known)


def arrays(model: bytes) -> dict[str, NDArray[Any]]:
    """Return the constants of a model by name, in the order of its file; those of other types are left out.

    Raises:
        google.protobuf.message.DecodeError: The bytes are no ONNX model.
    """
    kinds = {number: np.dtype(name) for name, number in _TYPES.items()}
    stored = ModelProto.FromString(model).graph.initializer
    known = (tensor for tensor in stored if tensor.data_type in kinds and tensor.raw_data)
    return {each.name: np.frombuffer(each.raw_data, kinds[each.data_type]).reshape(each.dims) for each in known}
